"""What can happen to a Redis, done to real servers: begun on entering a block, ended on leaving."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import NamedTuple

import redis

from tests.support.proxy import Mode, Proxy
from tests.support.redis_server import RedisServer
from wbtrio import StoreError, StoreProtocolError, StoreTimeout, StoreUnavailable

DEBUGGABLE = {"enable-debug-command": "yes"}
ENDLESS = "while true do end"


class Scene(NamedTuple):
    """Where a fault happens.

    Attributes:
        server: The server.
        proxy: What lies before it.
        key: Key of the bucket that is looked at.
    """

    server: RedisServer
    proxy: Proxy
    key: str


class Fault(NamedTuple):
    """One kind of fault.

    Attributes:
        name: As docs/reliability.md names it.
        happen: Begins it; leaving the block ends it.
        told_as: What a call raises meanwhile, where faults are to be raised; None: no call fails.
        advice: Part of that error's text: what to do.
        may_run: Whether calls that fail may have run all the same.
        config: What the server is started with.
    """

    name: str
    happen: Callable[[Scene], AbstractContextManager[None]]
    told_as: type[StoreError] | None
    advice: str = ""
    may_run: bool = False
    config: Mapping[str, str] = MappingProxyType({})


def change_default_user(server: RedisServer, *rules: str) -> None:
    """Change what a client that names no user may do, leaving all else as it is."""
    server.client.execute_command("ACL", "SETUSER", "default", *rules)  # type: ignore[no-untyped-call]


@contextmanager
def _killed(scene: Scene) -> Iterator[None]:
    scene.server.kill()
    yield
    scene.server.start()


@contextmanager
def _paused(scene: Scene) -> Iterator[None]:
    scene.server.pause()
    yield
    scene.server.resume()


@contextmanager
def _scripts_flushed(scene: Scene) -> Iterator[None]:
    scene.server.client.script_flush()
    yield


@contextmanager
def _flushed(scene: Scene) -> Iterator[None]:
    scene.server.client.flushall()
    yield


@contextmanager
def _evicted(scene: Scene) -> Iterator[None]:
    client = scene.server.client
    client.config_set("maxmemory-policy", "allkeys-random")
    used = int(client.info("memory")["used_memory"])
    client.config_set("maxmemory", used + 1_000_000)
    while client.exists(scene.key):
        for number in range(20):
            client.set(f"other:{number}:{client.dbsize()}", "x" * 50_000)
    yield
    client.config_set("maxmemory", 0)


@contextmanager
def _loading(scene: Scene) -> Iterator[None]:
    client = scene.server.client
    for number in range(4_000):
        client.set(f"other:{number}", "x" * 1_024)
    client.config_set("loading-process-events-interval-bytes", 1_024)
    client.config_set("key-load-delay", 1_000)

    def reload() -> None:
        with redis.Redis.from_url(scene.server.url) as own:
            own.execute_command("DEBUG", "RELOAD")

    thread = threading.Thread(target=reload, daemon=True)
    thread.start()
    _poll(lambda: bool(client.info("persistence")["loading"]))
    yield
    client.config_set("key-load-delay", 0)
    thread.join(60)


@contextmanager
def _busy(scene: Scene) -> Iterator[None]:
    scene.server.client.config_set("lua-time-limit", 1)

    def block() -> None:
        with redis.Redis.from_url(scene.server.url) as own:
            try:
                own.eval(ENDLESS, 0)
            except redis.ResponseError:
                return

    thread = threading.Thread(target=block, daemon=True)
    thread.start()

    def is_busy() -> bool:
        try:
            scene.server.client.get("other")
        except redis.ResponseError as error:
            return "BUSY" in str(error)
        return False

    _poll(is_busy)
    yield
    scene.server.client.script_kill()
    thread.join(60)


@contextmanager
def _out_of_memory(scene: Scene) -> Iterator[None]:
    scene.server.client.config_set("maxmemory", 1)
    yield
    scene.server.client.config_set("maxmemory", 0)


@contextmanager
def _read_only(scene: Scene) -> Iterator[None]:
    with RedisServer(config={"repl-diskless-sync-delay": "0"}) as primary:
        scene.server.client.replicaof("127.0.0.1", str(primary.port))
        _poll(lambda: scene.server.client.info("replication")["master_link_status"] == "up")
        yield
        scene.server.client.replicaof("NO", "ONE")


@contextmanager
def _locked(scene: Scene) -> Iterator[None]:
    client = scene.server.client
    client.config_set("requirepass", "secret")
    client.client_kill_filter(_type="normal", skipme=True)
    yield
    client.config_set("requirepass", "")


@contextmanager
def _wrong_type(scene: Scene) -> Iterator[None]:
    scene.server.client.delete(scene.key)
    scene.server.client.rpush(scene.key, "x")
    yield
    scene.server.client.delete(scene.key)


@contextmanager
def _commands_refused(scene: Scene) -> Iterator[None]:
    change_default_user(scene.server, "-time")
    yield
    change_default_user(scene.server, "+time")


def _between(mode: Mode) -> Callable[[Scene], AbstractContextManager[None]]:
    @contextmanager
    def happen(scene: Scene) -> Iterator[None]:
        scene.proxy.mode = mode
        yield
        scene.proxy.mode = "pass"

    return happen


def _poll(holds: Callable[[], bool]) -> None:
    for _ in range(100_000):
        if holds():
            return
    raise AssertionError("the fault does not happen")


FAULTS = [
    Fault(
        "the server is killed and started anew", _killed, StoreUnavailable, "server", may_run=True
    ),
    Fault("the server hangs", _paused, StoreTimeout, "longer timeout", may_run=True),
    Fault("SCRIPT FLUSH", _scripts_flushed, None),
    Fault("FLUSHALL", _flushed, None),
    Fault("the bucket's key is evicted", _evicted, None),
    Fault("LOADING", _loading, StoreUnavailable, "still loading", config=DEBUGGABLE),
    Fault("BUSY", _busy, StoreUnavailable, "Another script"),
    Fault("OOM", _out_of_memory, StoreProtocolError, "maxmemory"),
    Fault("READONLY", _read_only, StoreProtocolError, "use the primary"),
    Fault("NOAUTH", _locked, StoreProtocolError, "password", may_run=True),
    Fault("WRONGTYPE", _wrong_type, StoreProtocolError, "Another program uses a key"),
    Fault("NOPERM", _commands_refused, StoreProtocolError, "TIME"),
    Fault("replies are late", _between("hold"), StoreTimeout, "longer timeout", may_run=True),
    Fault("half-open connection", _between("swallow"), StoreTimeout, "timeout", may_run=True),
    Fault("a reply is cut", _between("cut"), StoreUnavailable, "server", may_run=True),
    Fault("a reply is lost", _between("lose"), StoreUnavailable, "server", may_run=True),
]
