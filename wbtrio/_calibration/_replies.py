"""Replies of one counter, and in which order WB may have counted their requests. Pure.

WB counts a request at some moment between its sending and its reply. Of two requests that were
under way together nobody knows which came first, unless what is left of the counter tells.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PERHAPS_UNCOUNTED = frozenset({401, 403, 404})


class Reply(Struct, frozen=True, kw_only=True):
    """One reply, as a trace has it.

    Attributes:
        sent: µs, when its request was sent.
        received: µs, when the reply came.
        operation: Id of what was called.
        bucket: Name of the bucket that it was charged to.
        status: HTTP status.
        limit: Tokens of WB's full counter; None: not stated, as below.
        remaining: Whole tokens that are left.
        reset: µs until WB's counter is full, rounded to seconds.
        retry: µs until WB admits a request, rounded to seconds.
    """

    sent: int
    received: int
    operation: str
    bucket: str = ""
    status: int = 200
    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None
    retry: int | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether it carries none of the four headers."""
        return self.limit is self.remaining is self.reset is self.retry is None

    @property
    def refused(self) -> bool:
        """Whether WB had no token for it."""
        return self.status == 429

    @property
    def is_error(self) -> bool:
        """Whether it is a 4XX that may cost more than one token."""
        return 400 <= self.status < 500 and not self.refused

    @property
    def left(self) -> int | None:
        """Whole tokens that were left after it; a 429 tells it without a header."""
        if self.refused:
            return None if self.says_nothing else 0
        return self.remaining

    def cost(self, error_cost: int) -> Span:
        """Fewest and most tokens that WB took for it, where a 4XX costs `error_cost`."""
        if self.refused:
            return Span(0, 0)
        most = error_cost if self.is_error else 1
        if self.says_nothing and (self.status in _PERHAPS_UNCOUNTED or self.status >= 500):
            return Span(0, most)
        if self.is_error and self.remaining == 0:
            # Where WB keeps no debts, the last tokens were all that it could take.
            return Span(1, most)
        return Span(most, most)


class Span(NamedTuple):
    """A number that lies between two others, both possible."""

    low: int
    high: int

    @property
    def is_exact(self) -> bool:
        """Whether only one number is possible."""
        return self.low == self.high


class Seen(NamedTuple):
    """What is left after one request, and what our requests had cost until then.

    Attributes:
        reply: The reply.
        left: Tokens left; never below 0, whatever is owed.
        cost: What it cost itself.
        spent: All our costs up to it, its own with it.
    """

    reply: Reply
    left: int
    cost: Span
    spent: Span

    def since(self, earlier: Seen) -> Span:
        """Tokens that we spent after an earlier request, this one's cost with it."""
        return Span(self.spent.low - earlier.spent.high, self.spent.high - earlier.spent.low)

    def same_window(self, earlier: Seen) -> bool:
        """Whether nothing may have come back since."""
        spent = self.since(earlier)
        least, most = earlier.left - spent.high, earlier.left - spent.low
        if self.reply.refused or self.reply.is_error:
            # What is owed reads as nothing left; whoever was let through found a token.
            least, most = max(0, least), max(0, most)
        return least <= self.left <= most

    def new_window(self, earlier: Seen, burst: int) -> bool:
        """Whether all may have come back since, once or more often."""
        return self.left >= burst - self.since(earlier).high


class Order:
    """Which of the replies' requests were counted before which, as far as that is sure.

    Attributes:
        is_possible: False: of some two, neither can have been the first.
    """

    def __init__(
        self, replies: Sequence[Reply], may_precede: Callable[[Reply, Reply], bool]
    ) -> None:
        """Look at all pairs that were under way together.

        Args:
            replies: In the order of their `sent`.
            may_precede: Of two such, whether the first may have been counted first.
        """
        self.is_possible = True
        count = range(len(replies))
        self._by_end = sorted(count, key=lambda n: replies[n].received)
        ends = [replies[n].received for n in self._by_end]
        self._sure: list[int] = []
        self._surely: list[list[int]] = []
        self._perhaps: list[list[int]] = []
        longest = max((r.received - r.sent for r in replies), default=0)
        starts = [reply.sent for reply in replies]
        for number, reply in enumerate(replies):
            at_once = reply.sent == reply.received
            earlier = (bisect_left if at_once else bisect_right)(ends, reply.sent)
            self._sure.append(earlier)
            surely: list[int] = []
            perhaps: list[int] = []
            first = bisect_left(starts, reply.sent - longest)
            for other in range(first, bisect_right(starts, reply.received)):
                if other == number or not _together(replies[other], reply):
                    if at_once and _just_before(replies[other], reply):
                        surely.append(other)
                    continue
                first_may = may_precede(replies[other], reply)
                other_may = may_precede(reply, replies[other])
                if first_may:
                    (perhaps if other_may else surely).append(other)
                elif not other_may:
                    self.is_possible = False
            self._surely.append(surely)
            self._perhaps.append(perhaps)

    def before(self, weights: Sequence[Span]) -> list[Span]:
        """For each reply, the sum of the weights of all that were counted before it."""
        low = [0, *accumulate(weights[n].low for n in self._by_end)]
        high = [0, *accumulate(weights[n].high for n in self._by_end)]
        return [
            Span(
                low[sure] + sum(weights[n].low for n in surely),
                high[sure] + sum(weights[n].high for n in [*surely, *perhaps]),
            )
            for sure, surely, perhaps in zip(self._sure, self._surely, self._perhaps, strict=True)
        ]

    def before_in_time(self, weights: Sequence[int]) -> list[int]:
        """For each reply, the sum over all that had come before its request was sent."""
        sums = [0, *accumulate(weights[n] for n in self._by_end)]
        return [sums[sure] for sure in self._sure]


def _just_before(one: Reply, other: Reply) -> bool:
    return one.received == other.sent and one.sent < one.received


def _together(one: Reply, other: Reply) -> bool:
    """Whether two requests were under way at one moment, or are of the very same moment."""
    if one.sent == one.received == other.sent == other.received:
        return True
    return one.sent < other.received and other.sent < one.received
