"""Leave to send one request, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import anyio
import anyio.lowlevel
from msgspec import Struct

from ._headers import Observation, parse_observed_rate_limit
from ._loop import loop_clock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from ._bucket import Bucket
    from ._lane import Cause
    from ._ledger import Granted
    from ._reconcile import Grant, Reason


class Settlement(Struct, frozen=True):
    """What a settled reply did to its bucket.

    Attributes:
        reason: Why it narrowed, or why it need not.
        store_called: Whether it took a store call.
        retry_after: Seconds until the bucket grants a request again, as far as is known.
        cause: Why the bucket makes one wait until then; None where it does not.
    """

    reason: Reason
    store_called: bool
    retry_after: float
    cause: Cause | None


class Settler(Protocol):
    """What a permit needs of the limiter that granted it."""

    async def settle_reply(
        self,
        bucket: Bucket,
        observation: Observation,
        *,
        refused: bool,
        grant: Grant | None = None,
        charge: int = 0,
        error_cost: int = 1,
        sent_at: int = 0,
        round_trip: int = 0,
    ) -> Settlement:
        """Narrow the bucket to a reply."""
        ...

    async def settle_lost(
        self, bucket: Bucket, grant: Grant, *, sent_at: int, round_trip: int
    ) -> None:
        """Narrow the bucket by a request whose reply is lost."""
        ...

    async def refund_grants(self, buckets: tuple[Bucket, ...], granted: Granted) -> bool:
        """Give unsent tokens back."""
        ...


class Permit:
    """Leave to send exactly one request; then settle it, or refund it if it was never sent.

    As a context manager it refunds itself when left neither sent nor settled, and counts as lost
    when left sent but not settled:

        async with await limiter.acquire(bucket) as permit:
            permit.mark_sent()
            response = await send()
            await permit.settle(response.status_code, response.headers)

    Attributes:
        buckets: The buckets that granted it; the first is the one that WB's headers speak of.
        cost: Tokens that it took from each.
        waited: Seconds that the caller waited for it.
        cause: Why it had to wait; None if it did not.
    """

    __slots__ = (
        "_error_cost",
        "_granted",
        "_sent",
        "_sent_at",
        "_settled",
        "_settler",
        "buckets",
        "cause",
        "cost",
        "waited",
    )

    def __init__(
        self,
        settler: Settler,
        buckets: tuple[Bucket, ...],
        granted: Granted,
        granted_at: int,
        *,
        error_cost: int,
        waited: float,
        cause: Cause | None,
    ) -> None:
        self.buckets = buckets
        self.cost = granted.grants[0].cost
        self.waited = waited
        self.cause = cause
        self._settler = settler
        self._granted = granted
        self._error_cost = error_cost
        self._sent = False
        self._settled = False
        self._sent_at = granted_at

    def __repr__(self) -> str:
        return f"<Permit: {self.cost} of {self.buckets[0].key}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._settled:
            with anyio.CancelScope(shield=True):
                await (self.lose() if self._sent else self.refund())

    def mark_sent(self) -> None:
        """The request is about to leave: from here on its tokens are spent.

        Called again, the last call counts: WB sees the request when it arrives, not when it was
        granted, and `settle` takes that into account.
        """
        self._sent = True
        self._sent_at = loop_clock()

    async def settle(
        self, status: int, headers: Mapping[str, str], *, refused: bool | None = None
    ) -> Settlement:
        """Reconcile the bucket with a reply of WB, in at most one store call.

        Never raises for a fault of the store: that is logged, and kept in mind until it is back.

        Args:
            status: The reply's HTTP status. A 4XX other than 429 takes the operation's error cost.
            headers: The reply's headers.
            refused: Whether WB's limiter refused the request. Default: whether `status` is 429;
                a 429 that only says "maintenance" is no refusal.
        """
        refused = status == 429 if refused is None else refused
        self._sent = self._settled = True
        is_caller_error = 400 <= status < 500 and status != 429
        charge = self._error_cost - 1 if is_caller_error and not refused else 0
        observation = parse_observed_rate_limit(headers)
        return await self._settler.settle_reply(
            self.buckets[0],
            observation,
            refused=refused,
            grant=self._granted.grants[0],
            charge=charge,
            error_cost=self._error_cost,
            sent_at=self._sent_at,
            round_trip=loop_clock() - self._sent_at,
        )

    async def lose(self) -> None:
        """Tell that the request left and that its reply will never be seen.

        Its tokens stay spent. Where it left long after its grant, and the bucket was full then, WB
        may have begun to refill as late as now, and the bucket follows; that takes a store call.
        Never raises for a fault of the store; does nothing for a permit settled or refunded before.
        """
        if self._settled:
            await anyio.lowlevel.checkpoint()
            return
        self._sent = self._settled = True
        await self._settler.settle_lost(
            self.buckets[0],
            self._granted.grants[0],
            sent_at=self._sent_at,
            round_trip=loop_clock() - self._sent_at,
        )

    async def refund(self) -> bool:
        """Give the tokens back. Only for a request that certainly never reached WB.

        Returns:
            Whether every bucket took them back; if anything happened there since the grant,
            they stay spent. False too for a permit that was settled or refunded before.
        """
        if self._settled:
            await anyio.lowlevel.checkpoint()
            return False
        self._settled = True
        return await self._settler.refund_grants(self.buckets, self._granted)
