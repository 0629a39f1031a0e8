"""A WB that counts, to be run or mounted in tests: `WbSimulator(Scenario(...))`.

engine, foreign      counters, headers, other programs on the account     pure
tokens, routes       whose request it is, for which method                pure
catalogue            sellers' rows and WB's ways of paging through them   pure
faults, replies      what goes wrong, and what WB says then               pure
app, serve           ASGI application; HTTP on a loopback port

It shares no code with the limiter that it is there to test.
"""

from .app import Entry, WbSimulator
from .engine import Engine, HeaderStyle, Key, Refill, Rule, Tally
from .faults import Fault, FaultKind, Latency
from .foreign import Foreign
from .scenario import Scenario
from .shelf import Motion
from .shop import Stock
from .tokens import make_token

__all__ = [
    "Engine",
    "Entry",
    "Fault",
    "FaultKind",
    "Foreign",
    "HeaderStyle",
    "Key",
    "Latency",
    "Motion",
    "Refill",
    "Rule",
    "Scenario",
    "Stock",
    "Tally",
    "WbSimulator",
    "make_token",
]
