"""Groups of real Redis servers: a cluster, and a primary with a replica under a sentinel."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import redis

from tests.support.redis_server import START_TIMEOUT, RedisServer, find_server, free_port

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

SLOTS = 16_384
NODES = 3
PERIOD = 0.02
"""Real seconds between two looks at what a group of servers agrees on by itself."""


class NeverHappened(Exception):
    """What a group of servers was to do by itself did not happen in time."""


def poll(happened: Callable[[], object], what: str, timeout: float = START_TIMEOUT) -> None:
    """Look until servers have done what they do by themselves, since nothing tells when.

    Raises:
        NeverHappened: They have not, `timeout` real seconds later.
    """
    never = threading.Event()
    for _ in range(round(timeout / PERIOD)):
        try:
            if happened():
                return
        except redis.exceptions.RedisError:
            pass
        never.wait(PERIOD)
    raise NeverHappened(what)


class _Group:
    """Servers that start and end together; a context manager."""

    def __init__(self) -> None:
        self._running = ExitStack()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._running.close()

    def _start(self, server: RedisServer) -> RedisServer:
        return self._running.enter_context(server)


class RedisCluster(_Group):
    """Three nodes without replicas, a third of the slots each; `nodes` has them."""

    def __enter__(self) -> Self:
        config = {
            "cluster-enabled": "yes",
            "cluster-node-timeout": "2000",
            "cluster-require-full-coverage": "no",
        }
        self.nodes = [
            self._start(RedisServer(config=config, ports_below=55_000)) for _ in range(NODES)
        ]
        ends = [SLOTS * number // NODES for number in range(NODES + 1)]
        for node, first, end in zip(self.nodes, ends, ends[1:], strict=False):
            _ask(node, "CLUSTER ADDSLOTS", *range(first, end))
        for node in self.nodes[1:]:
            _ask(self.nodes[0], "CLUSTER MEET", "127.0.0.1", str(node.port))
        poll(self._agrees, "the cluster forms")
        return self

    def owner_of(self, key: str) -> RedisServer:
        """The node that has the key's slot, as that node itself says."""
        return next(node for node in self.nodes if _serves(node, key))

    def slot_of(self, key: str) -> int:
        """The key's slot."""
        return cast("int", _ask(self.nodes[0], "CLUSTER KEYSLOT", key))

    def move(self, key: str, to: RedisServer) -> None:
        """Move the key's slot, with all that is in it, to another node."""
        slot, source = self.slot_of(key), self.owner_of(key)
        setslot = "CLUSTER SETSLOT"
        _ask(to, setslot, slot, "IMPORTING", self._id_of(source))
        _ask(source, setslot, slot, "MIGRATING", self._id_of(to))
        keys = _ask(source, "CLUSTER GETKEYSINSLOT", slot, 100)
        if isinstance(keys, list) and keys:
            _ask(source, "MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys)
        for node in (to, source):
            _ask(node, setslot, slot, "NODE", self._id_of(to))

    def _agrees(self) -> bool:
        infos = [cast("dict[str, str]", _ask(node, "CLUSTER INFO")) for node in self.nodes]
        return all(
            info["cluster_state"] == "ok"
            and info["cluster_known_nodes"] == str(NODES)
            and info["cluster_slots_assigned"] == str(SLOTS)
            for info in infos
        )

    def _id_of(self, node: RedisServer) -> str:
        return cast("str", _ask(node, "CLUSTER MYID"))


class Watched(_Group):
    """A primary and its replica under one sentinel, which knows them as `SERVICE`."""

    SERVICE = "budgets"

    def __enter__(self) -> Self:
        self.primary = self._start(RedisServer())
        following = {
            "replicaof": f"127.0.0.1 {self.primary.port}",
            "repl-diskless-load": "swapdb",
        }
        self.primary.client.config_set("repl-diskless-sync-delay", 0)
        self.replica = self._start(RedisServer(config=following))
        poll(self._replicates, "the replica follows")
        self.sentinel_port = free_port()
        self._start_sentinel()
        self._sentinel = redis.Redis(port=self.sentinel_port, decode_responses=True)
        self._running.callback(self._sentinel.close)
        poll(self._is_watched, "the sentinel knows the replica")
        return self

    def fail_over(self) -> None:
        """Kill the primary and return once the sentinel has made the replica the new one."""
        self.primary.kill()
        poll(self._has_new_primary, "the sentinel fails over")

    def _start_sentinel(self) -> None:
        folder = self._running.enter_context(tempfile.TemporaryDirectory(prefix="wbtrio-sentinel-"))
        settings = Path(folder, "sentinel.conf")
        settings.write_text(
            f"port {self.sentinel_port}\nbind 127.0.0.1\ndir {folder}\n"
            f"sentinel monitor {self.SERVICE} 127.0.0.1 {self.primary.port} 1\n"
            f"sentinel down-after-milliseconds {self.SERVICE} 500\n"
            f"sentinel failover-timeout {self.SERVICE} 3000\n",
            encoding="utf-8",
        )
        process = subprocess.Popen(
            [find_server(), str(settings), "--sentinel"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._running.callback(process.wait)
        self._running.callback(process.kill)

    def _replicates(self) -> bool:
        info = cast("dict[str, str]", self.replica.client.info("replication"))
        return info["master_link_status"] == "up"

    def _is_watched(self) -> bool:
        replicas = cast(
            "list[dict[str, object]]",
            self._sentinel.sentinel_slaves(self.SERVICE),
        )
        return any(replica["master-link-status"] == "ok" for replica in replicas)

    def _has_new_primary(self) -> bool:
        info = cast("dict[str, str]", self.replica.client.info("replication"))
        _, port = cast(
            "tuple[str, int]", self._sentinel.sentinel_get_master_addr_by_name(self.SERVICE)
        )
        return info["role"] == "master" and port == self.replica.port


def _ask(node: RedisServer, *command: str | int) -> object:
    return node.client.execute_command(*command)  # type: ignore[no-untyped-call]


def _serves(node: RedisServer, key: str) -> bool:
    try:
        node.client.exists(key)
    except redis.exceptions.MovedError:
        return False
    return True
