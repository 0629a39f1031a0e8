"""What all rows share: how tolerant they are, and how to read WB's moments and decimals."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from msgspec import Struct

MOSCOW = timezone(timedelta(hours=3), "MSK")
"""The zone of WB's moments that name none; it has no summer time."""

_DECIMAL = re.compile(r"-?[0-9]{1,30}(?:[.,][0-9]{1,30})?", re.ASCII)


class Row(Struct, frozen=True, kw_only=True, rename="camel"):
    """A row of one of WB's lists, decoded from WB's own JSON.

    Only the fields that tell two rows apart are certain; any other may be missing or null, and
    is None then: WB makes fields nullable without notice (field case WB-042). Fields that a
    class does not name are left out. Money is a `Decimal`, never a float. Dates and moments
    stay as WB wrote them, since cursors must go back unchanged: `moment` reads them.
    """


def moment(text: str | None) -> datetime | None:
    """One of WB's dates or moments as an aware datetime; None where it says none.

    WB writes RFC 3339 with up to nine decimals (cut to µs here), a bare date, or a moment
    without a zone, which is Moscow time. Empty texts, what is no date, and the year 1 ("has not
    happened", such as the `cancelDate` of an order that stands) are None.
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if found.year == 1:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=MOSCOW)


def decimal(text: str | None) -> Decimal | None:
    """A number that WB wrote as text with a decimal comma (tariffs); None if it is none ("-")."""
    bare = (text or "").replace("\u00a0", "").replace(" ", "")
    return Decimal(bare.replace(",", ".")) if _DECIMAL.fullmatch(bare) else None
