"""What was measured, as it is kept: every figure of every round, and what it depends on. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from benchmarks._catalogue import Run
from benchmarks._measure import Figures, LoopName, Part


class Measured(Struct):
    """One run's figures."""

    run: Run
    figures: Figures


class Results(Struct, dict=True):
    """A whole series.

    Attributes:
        environment: What the figures depend on, by name.
        rounds: Interleaved: each round made every run once.
    """

    environment: dict[str, str]
    rounds: list[list[Measured]]

    @cached_property
    def runs(self) -> list[Run]:
        """Every run of which there are figures, in the order of the rounds."""
        with_figures = (one.run for one in self._all() if one.figures.values or one.figures.spreads)
        return list(dict.fromkeys(with_figures))

    @cached_property
    def notes(self) -> dict[str, str]:
        """Why figures are missing, by the run's label."""
        return {one.run.label: one.figures.note for one in self._all() if one.figures.note}

    def value(self, run: Run, what: str) -> float | None:
        """Median over the rounds of one value, or of one percentile, as in `acquire p99`."""
        found = [value for value in self._by_round(run, what) if value is not None]
        return statistics.median(found) if found else None

    def ratio(self, run: Run, to: Run, what: str, to_what: str = "") -> float | None:
        """Median of the ratio within each round, so that what slows a whole round cancels out."""
        pairs = zip(self._by_round(run, what), self._by_round(to, to_what or what), strict=True)
        ratios = [one / other for one, other in pairs if one is not None and other]
        return statistics.median(ratios) if ratios else None

    def spread(self, run: Run, what: str) -> list[float]:
        """The percentiles 0 to 100 of one time, each the median over the rounds; [] if none."""
        found = [
            one.figures.spreads[what]
            for one in self._all()
            if one.run == run and what in one.figures.spreads
        ]
        return [statistics.median(column) for column in zip(*found, strict=True)]

    def find(self, name: str, loop: LoopName = "", part: Part = "", place: str = "") -> Run | None:
        """The run of this description."""
        for run in self.runs:
            if (run.name, run.loop, run.part) == (name, loop, part) and place in {"", run.place}:
                return run
        return None

    def _all(self) -> Iterator[Measured]:
        for one_round in self.rounds:
            yield from one_round

    def _by_round(self, run: Run, what: str) -> list[float | None]:
        name, _, percentile = what.partition(" p")
        values: list[float | None] = []
        for one_round in self.rounds:
            figures = next((one.figures for one in one_round if one.run == run), Figures())
            if percentile:
                spread = figures.spreads.get(name)
                values.append(spread[int(percentile)] if spread else None)
            else:
                values.append(figures.values.get(name))
        return values
