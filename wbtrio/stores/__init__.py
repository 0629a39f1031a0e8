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
from .clients import ClientStore, RedisClient
from .file import FileStore
from .memory import MemoryStore
from .redis import RedisStore

__all__ = [
    "AcquireReply",
    "AcquireRequest",
    "ClientStore",
    "FileStore",
    "MemoryStore",
    "NarrowReply",
    "PeekReply",
    "RedisClient",
    "RedisStore",
    "RefundReply",
    "RefundRequest",
    "Store",
]
