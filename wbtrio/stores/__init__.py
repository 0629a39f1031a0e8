"""Where buckets live: one protocol, in memory or in Redis."""

from ._protocol import (
    AcquireReply,
    AcquireRequest,
    NarrowReply,
    PeekReply,
    RefundReply,
    RefundRequest,
    Store,
)
from .memory import MemoryStore
from .redis import RedisStore

__all__ = [
    "AcquireReply",
    "AcquireRequest",
    "MemoryStore",
    "NarrowReply",
    "PeekReply",
    "RedisStore",
    "RefundReply",
    "RefundRequest",
    "Store",
]
