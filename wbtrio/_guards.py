"""What one process knows beyond a bucket's state: reasons to wait longer, never shorter. Pure."""

from __future__ import annotations

from collections import deque

from . import _bucket
from ._bucket import FULL, MICROSECONDS, Limit, State

RESERVE_FOR = 600 * MICROSECONDS
ROUND_TRIPS_REMEMBERED = 16
TOKENS_REMEMBERED = 64
LONGEST_SPREAD = MICROSECONDS // 4
"""µs; beyond that a slow reply was slow to be made, after WB had counted (field case WB-023)."""


class Window:
    """Until when nothing may be counted on to refill, and how many tokens are left until then.

    Opened by a reply that says that WB refills later than our bucket would. Only this process
    knows of it: it waits longer than the bucket alone would make it, never less.
    """

    def __init__(self) -> None:
        self._until = 0
        self._left = 0
        self._proven_until = 0
        self._is_supposed = False

    def suppose(self, left: int, until: int, now: int) -> None:
        """A grant begins another window, if WB was seen to count by windows in ten minutes.

        For where a reply, which would tell of it, comes later than the next refill of ours.
        """
        if self._until <= now < self._proven_until:
            self._left, self._until, self._is_supposed = left, until, True

    def narrow(self, left: int, until: int, now: int) -> None:
        """At most this many tokens are left until then, in µs of the store's clock."""
        is_open = now < self._until
        self._left = min(left, self._left) if is_open else left
        self._until = min(until, self._until) if is_open and not self._is_supposed else until
        self._is_supposed = False
        self._proven_until = now + RESERVE_FOR

    def spend(self, cost: int) -> None:
        """Tokens were granted, or with a negative cost given back."""
        self._left -= cost

    def wait(self, now: int, cost: int) -> int:
        """µs until `cost` tokens can be there."""
        return self._until - now if now < self._until and self._left < cost else 0


class Reserve:
    """Tokens left to other programs, so that neither they nor we are refused.

    Who spends a shared budget to the last token is refused whenever a stranger comes in between.
    So once a request was refused for strangers whom `Remaining` had shown, or for the second time,
    as many tokens stay as they were seen to take at once, and one more, but never more than half
    a bucket. That costs no throughput, since all that refills is spent; it is forgotten when no
    stranger was noticed for ten minutes. The request after a 429 still goes when WB says. Only
    this process knows of it.
    """

    def __init__(self) -> None:
        self._tokens = 0
        self._most_seen = 0
        self._refusals = 0
        self._until = 0
        self._is_due = False

    def see(self, foreign: int, now: int) -> None:
        """`Remaining` showed that strangers took so many tokens."""
        self._notice(now)
        self._most_seen = max(self._most_seen, foreign)
        if self._tokens:
            self._tokens = self._most_seen + 1

    def note_refusal(self, now: int) -> None:
        """A request of ours was refused that the bucket had granted."""
        self._notice(now)
        self._refusals += 1
        self._tokens = 0
        self._is_due = self._most_seen > 0 or self._refusals > 1

    def note_grant(self) -> None:
        """A request of ours goes; those after it leave the reserve."""
        if self._is_due:
            self._is_due = False
            self._tokens = max(self._most_seen, 1) + 1

    def _notice(self, now: int) -> None:
        if now >= self._until:
            self._tokens = self._most_seen = self._refusals = 0
            self._is_due = False
        self._until = now + RESERVE_FOR

    def on_top_of(self, cost: int, burst: int, now: int) -> int:
        """Tokens to have there beside `cost`."""
        if now >= self._until:
            return 0
        return max(0, min(self._tokens, burst // 2, burst - cost))

    def forgotten_in(self, now: int) -> int:
        """µs until the strangers are forgotten, if none is seen meanwhile."""
        return max(0, self._until - now)


class Spread:
    """How unevenly requests travel: one that is quick may arrive at WB too early by as much.

    Grants that we space by one interval reach WB closer together when an earlier one took longer
    than a later one. So requests stay behind the bucket by the spread of the round trips. Where
    the burst is above one token, that costs a delay once and no throughput.

    Attributes:
        us: µs to stay behind our bucket.
        longest: µs of the longest of the last round trips.
    """

    def __init__(self) -> None:
        self.us = self.longest = 0
        self._round_trips: deque[int] = deque(maxlen=ROUND_TRIPS_REMEMBERED)

    def note(self, round_trip: int) -> None:
        """A reply came so many µs after its request had left."""
        self._round_trips.append(round_trip)
        self.longest = max(self._round_trips)
        self.us = min(self.longest - min(self._round_trips), LONGEST_SPREAD)


class Share:
    """What one of several processes may spend while their common store is away.

    Without the store nobody knows what the others spend, so each goes on with the share of the
    budget that it lately had: of the tokens that are left, and of those that refill. Where the
    last grants were typical, the shares of all processes add up to one bucket.
    """

    def __init__(self) -> None:
        self._own = self._others = 0
        self._limit: Limit | None = None
        self._state = FULL

    def note(self, own: int, others: int) -> None:
        """`own` tokens were granted here, and so many to others since the last grant here."""
        self._own += own
        self._others += max(0, others)
        if self._own > TOKENS_REMEMBERED:
            self._own, self._others = -(-self._own // 2), -(-self._others // 2)

    def begin(self, left: int, limit: Limit, *, now: int) -> None:
        """The store is gone.

        Args:
            left: Tokens that the bucket has now, as far as is known.
            limit: The pace that the bucket goes by.
            now: µs of the store's clock.
        """
        if not self._others or not self._own:
            self.end()
            return
        # An eighth more for others: shares seen by each alone would add up to a little above one.
        own, everyone = self._own, self._own + -(-self._others * 9 // 8)
        interval = -(-limit.interval * everyone // own)
        burst = max(1, limit.burst * own // everyone)
        missing = max(0, burst - max(0, left) * own // everyone)
        self._limit = Limit(period=interval, limit=1, burst=burst)
        self._state = State(now + missing * interval, 0, 0)

    def end(self) -> None:
        """The store is back."""
        self._limit = None

    def spend(self, cost: int, now: int) -> None:
        """Tokens were granted."""
        if self._limit is not None:
            full_at = max(self._state.full_at, now) + cost * self._limit.interval
            self._state = State(full_at, 0, 0)

    def wait(self, now: int, cost: int) -> int:
        """µs until this process's share has `cost` tokens, or all that it can hold."""
        if self._limit is None:
            return 0
        return _bucket.wait(self._state, self._limit, now, min(cost, self._limit.burst))
