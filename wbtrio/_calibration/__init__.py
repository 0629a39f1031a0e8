"""What WB's counters really are, as far as traces of replies prove it. Pure."""

from __future__ import annotations

from ._fits import Bounds, Fit, fits_of
from ._replies import Reply

__all__ = ["Bounds", "Fit", "Reply", "fits_of"]
