"""What a store of buckets is: one atomic step per call, on the store's own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._bucket import Limit, Narrowing, State


class AcquireRequest(NamedTuple):
    """One bucket's part of an acquire.

    Attributes:
        key: The bucket's key; all keys of one call share one hash tag.
        limit: What WB allows there.
        cost: Tokens to take, 1 <= cost <= burst.
        hint: The largest state that this process has seen; merged in before the decision.
    """

    key: str
    limit: Limit
    cost: int
    hint: State


class AcquireReply(NamedTuple):
    """The outcome of an acquire, all buckets or none.

    Attributes:
        granted: Whether every bucket granted its cost.
        now: µs of the store's clock at the decision.
        states: Each bucket's state after it, in the order asked.
    """

    granted: bool
    now: int
    states: tuple[State, ...]


class NarrowReply(NamedTuple):
    """The outcome of a narrowing.

    Attributes:
        now: µs of the store's clock at the step.
        before: The state before it, hint merged in.
        state: The state after it.
    """

    now: int
    before: State
    state: State


class RefundRequest(NamedTuple):
    """One bucket's part of a refund: undo a grant of `cost` that left the state `after`."""

    key: str
    limit: Limit
    cost: int
    after: State


class RefundReply(NamedTuple):
    """The outcome of a refund, each bucket for itself.

    Attributes:
        now: µs of the store's clock.
        refunded: Whether every bucket still stood as the grant had left it.
        states: Each bucket's state after it, in the order asked.
    """

    now: int
    refunded: bool
    states: tuple[State, ...]


class PeekReply(NamedTuple):
    """States as they are; nothing was changed."""

    now: int
    states: tuple[State, ...]


@runtime_checkable
class Store(Protocol):
    """Where buckets live.

    Every call is one atomic step, bounded in time, and uninterruptible: it happens or it does
    not, whatever becomes of the caller's scope meanwhile; a grant that the caller's cancellation
    leaves without an owner is refunded by the store. `narrow` and `refund` happen in a cancelled
    scope too: what a reply said, or that nothing was sent, stays true. Each call gives way to other
    tasks.

    Raises (all methods):
        StoreError: The store did not or may not have done it; see `may_have_run`.
    """

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        """Take the cost from every bucket, or nothing from any."""
        ...

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        """Apply one narrowing."""
        ...

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        """Give back what a grant took, wherever nothing happened since."""
        ...

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        """Read states without changing them."""
        ...

    async def aclose(self) -> None:
        """Release what the store holds; it may be used again afterwards."""
        ...
