"""Clients of other libraries, opened as their documentation says and made to send once."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, cast

import coredis
import redis.asyncio
from coredis.connection import TCPLocation
from coredis.retry import NoRetryPolicy
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from wbtrio.stores import RedisClient

Library = Literal["redis", "coredis"]


def _once() -> Retry:
    return Retry(NoBackoff(), 0)


@asynccontextmanager
async def open_client(library: Library, port: int) -> AsyncIterator[RedisClient]:
    """A client of one server."""
    if library == "redis":
        async with redis.asyncio.Redis(port=port, retry=_once()) as one:
            yield cast("RedisClient", one)
    else:
        async with coredis.Redis("127.0.0.1", port, retry_policy=NoRetryPolicy()) as other:
            yield cast("RedisClient", other)


@asynccontextmanager
async def open_cluster(library: Library, port: int) -> AsyncIterator[RedisClient]:
    """A client of the cluster that the node at `port` belongs to."""
    if library == "redis":
        async with redis.asyncio.RedisCluster("127.0.0.1", port, retry=_once()) as one:
            yield cast("RedisClient", one)
    else:
        async with coredis.RedisCluster("127.0.0.1", port, retry_policy=NoRetryPolicy()) as other:
            yield cast("RedisClient", other)


@asynccontextmanager
async def open_primary(
    library: Library, sentinel_port: int, service: str
) -> AsyncIterator[RedisClient]:
    """A client of whichever server the sentinel calls the primary."""
    if library == "redis":
        sentinel = redis.asyncio.Sentinel([("127.0.0.1", sentinel_port)])
        async with sentinel.master_for(service, retry=_once()) as one:
            yield cast("RedisClient", one)
        for each in sentinel.sentinels:
            await each.aclose()
    else:
        watch = coredis.Sentinel([TCPLocation("127.0.0.1", sentinel_port)])
        async with watch, watch.primary_for(service) as other:
            yield cast("RedisClient", other)
