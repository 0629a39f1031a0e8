"""What wbtrio logs while a test runs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def warnings_logged() -> Iterator[list[str]]:
    """The texts of all warnings and errors within the block, in their order, as they come."""
    found: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    collector = Collector(logging.WARNING)
    logger = logging.getLogger("wbtrio")
    logger.addHandler(collector)
    try:
        yield found
    finally:
        logger.removeHandler(collector)
