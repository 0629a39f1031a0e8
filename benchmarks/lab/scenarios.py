"""The scenarios, as data."""

from __future__ import annotations

from benchmarks.lab._scenario import HOUR, MINUTE, Between, Faults, Incident, Scenario
from wbtrio.simulator import Foreign, Rule

ORDERS = Rule(MINUTE, 300, 20)
HOURLY = Rule(HOUR, 1, 1)
DAY = 24 * 3600.0

EXACT = Scenario("exact", "WB counts just as the registry says, and nobody else is there.")
SHORT = Scenario("short", "As `exact`, for one minute and with six workers.", seconds=60, workers=6)

SCENARIOS: tuple[Scenario, ...] = (
    EXACT,
    Scenario(
        "registry 5x too strict",
        "The registry says 60 a minute, WB grants 300.",
        registry=Rule(MINUTE, 60, 20),
    ),
    Scenario(
        "registry twice too wide",
        "The registry says 300 a minute, WB grants 150.",
        wb=Rule(MINUTE, 150, 20),
        registry=ORDERS,
    ),
    Scenario(
        "too wide, gives no numbers",
        "The same, and WB sends no headers.",
        wb=Rule(MINUTE, 150, 20),
        registry=ORDERS,
        headers="none",
    ),
    Scenario(
        "base token read as personal",
        "The registry says 300 a minute, WB grants one an hour; a day.",
        wb=HOURLY,
        registry=ORDERS,
        seconds=DAY,
        workers=4,
    ),
    Scenario(
        "window, all headers",
        "Twenty at once, then nothing until the window of four seconds ends; WB says when.",
        refill="window",
        headers="full",
    ),
    Scenario(
        "window, end told by a 429",
        "The same, but only a 429 says when.",
        refill="window",
    ),
    Scenario("full headers", "As `exact`; every reply states all four headers.", headers="full"),
    Scenario("legacy headers", "As `exact`; a success states `Remaining` only.", headers="legacy"),
    Scenario("no headers", "As `exact`; no reply states anything.", headers="none"),
    Scenario(
        "undeclared shared budget",
        "Five operations that have a bucket each in the registry draw on one counter.",
        operations=5,
    ),
    Scenario(
        "stranger, steady",
        "Another program sends two requests a second.",
        foreign=(Foreign(every=0.5),),
    ),
    Scenario(
        "stranger, uneven",
        "The same on average, at random moments.",
        foreign=(Foreign(every=0.5, jitter=1.0),),
    ),
    Scenario(
        "stranger, bursts",
        "Another program sends twenty requests at once, every five seconds.",
        foreign=(Foreign(every=5, size=20),),
    ),
    Scenario(
        "4 processes",
        "As `exact`, from four programs with a store 1 ms away.",
        processes=4,
        store_latency=0.001,
    ),
    Scenario(
        "16 processes",
        "From sixteen.",
        processes=16,
        workers=32,
        store_latency=0.001,
    ),
    Scenario(
        "4 processes and a stranger",
        "Four programs, and another one that sends two requests a second.",
        processes=4,
        store_latency=0.001,
        foreign=(Foreign(every=0.5),),
    ),
    Scenario(
        "2 s to WB",
        "Each way takes a second.",
        there=Between(1, 1),
        back=Between(1, 1),
    ),
    Scenario(
        "jitter 50-450 ms",
        "The way to WB takes from 50 to 450 ms: requests arrive closer together than they left.",
        there=Between(0.05, 0.45),
        back=Between(0.05, 0.45),
    ),
    Scenario(
        "replies after 25 s",
        "A reply takes 25 s to be made, after the request was counted.",
        back=Between(25, 25),
        workers=200,
    ),
    Scenario(
        "replies after 1-25 s",
        "It takes from 1 to 25 s.",
        back=Between(1, 25),
        workers=200,
    ),
    Scenario(
        "replies after 25 s, stranger",
        "Replies after 25 s, and another program at two requests a second.",
        back=Between(25, 25),
        workers=200,
        foreign=(Foreign(every=0.5),),
    ),
    Scenario(
        "lost replies",
        "One reply in twenty never comes; the client gives up after 10 s.",
        faults=Faults(lost=0.05),
        workers=60,
    ),
    Scenario(
        "evicted keys",
        "The store forgets all buckets every ten seconds; four programs.",
        processes=4,
        store_latency=0.001,
        faults=Faults(evict_every=10),
    ),
    Scenario(
        "clock skew",
        "The store's clock jumps: 5 s ahead, then 5 s behind; four programs.",
        processes=4,
        store_latency=0.001,
        faults=Faults(clock_jumps=((200, 5), (400, -5))),
    ),
    Scenario(
        "4XX storm",
        "One request in five is answered 400, which WB counts as ten requests.",
        faults=Faults(errors=0.2, error_cost=10),
    ),
    Scenario(
        "WB incident",
        "For a minute WB refuses everything and says nothing of when.",
        faults=Faults(incident=Incident(200, 260)),
    ),
    Scenario(
        "burst 500 at 20/min",
        "A thousand requests to bring home, of which 500 may go at once.",
        wb=Rule(MINUTE, 20, 500),
        jobs=1_000,
        seconds=DAY,
    ),
    Scenario(
        "1/h",
        "One request an hour; a day.",
        wb=HOURLY,
        seconds=DAY,
        workers=4,
    ),
    Scenario(
        "10,000 accounts",
        "Two requests for each of ten thousand sellers, burst one, one a minute.",
        wb=Rule(MINUTE, 1, 1),
        accounts=10_000,
        jobs=20_000,
        workers=500,
        seconds=DAY,
    ),
)
BY_NAME = {scenario.name: scenario for scenario in (SHORT, *SCENARIOS)}
