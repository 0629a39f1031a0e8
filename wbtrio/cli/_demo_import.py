"""What one process of the demo does: import four lists of four sellers, all at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import anyio
from msgspec import Struct

from wbtrio import OperationId, RateLimited, WbApiClient, WbRateLimiter
from wbtrio._statistics import BucketStatistics

LISTS: dict[str, tuple[OperationId, dict[str, str | int]]] = {
    "cards": ("content.cards.list", {}),
    "prices": ("prices.goods.list", {}),
    "FBS orders": ("fbs.orders.list", {}),
    "statistics": ("statistics.orders.list", {"dateFrom": "2026-01-01"}),
}
"""What is imported: a name to show, the operation, and its parameters."""


class Seller(Struct, frozen=True):
    """One seller to import.

    Attributes:
        name: To show.
        kind: Kind of the token.
        token: The token.
        account: Key of the account.
    """

    name: str
    kind: str
    token: str
    account: str


class Step(Struct, frozen=True):
    """Progress of one list of one seller.

    Attributes:
        seller: Name of the seller.
        resource: Name of the list.
        rows: Rows of this page.
        requests: 1 for a page; 0 for the end of the walk.
        waited: Seconds that the page's permit took.
        cause: Why, where it waited.
        resumes_at: Where the walk was parked: when its budget admits the next page.
        is_done: Whether the walk ended.
    """

    seller: str
    resource: str
    rows: int = 0
    requests: int = 0
    waited: float = 0.0
    cause: str | None = None
    resumes_at: datetime | None = None
    is_done: bool = False


Watcher = Callable[[Step], Any]


async def import_sellers(
    base_url: str,
    sellers: list[Seller],
    limiter: WbRateLimiter,
    *,
    max_wait: float,
    watch: Watcher,
) -> dict[str, BucketStatistics]:
    """Import all lists of all sellers concurrently; what the limiter counted, per bucket."""
    async with (
        WbApiClient(limiter=limiter, base_url=base_url, max_wait=max_wait) as wb,
        anyio.create_task_group() as sellers_at_work,
    ):
        for seller in sellers:
            sellers_at_work.start_soon(_import_seller, wb, seller, watch)
    return dict(limiter.statistics().buckets)


async def _import_seller(wb: WbApiClient, seller: Seller, watch: Watcher) -> None:
    async with wb.account(seller.token) as account:
        for resource in LISTS:

            async def walk(resource: str = resource) -> None:
                operation, params = LISTS[resource]
                try:
                    async for page in account.pages(operation, params=params):
                        permit = page.answer.permit
                        watch(
                            Step(
                                seller.name,
                                resource,
                                rows=len(page.items),
                                requests=1,
                                waited=permit.waited,
                                cause=permit.cause,
                            )
                        )
                except RateLimited as parked:
                    watch(Step(seller.name, resource, resumes_at=parked.resume_at, is_done=True))
                else:
                    watch(Step(seller.name, resource, is_done=True))

            account.start_soon(walk)
