"""Which bucket a request is charged to, and what a person's own folder or dict changes in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wbtrio._bucket import MICROSECONDS, Limit
from wbtrio._errors import RegistryError
from wbtrio._registry import Registry, default_registry, format_limit, shipped_folder
from wbtrio._tokens import Scope, TokenKind

MINUTE = 60 * MICROSECONDS
HOUR = 60 * MINUTE


@pytest.fixture
def registry() -> Registry:
    return default_registry()


def limit_of(registry: Registry, operation_id: str, kind: TokenKind) -> str:
    budget = registry.budgets[registry.operation(operation_id).budget]
    return format_limit(budget.limit_for(kind))


def test_operations_of_a_group_are_charged_to_one_bucket(registry: Registry) -> None:
    buckets = {
        registry.bucket_for(registry.operation(name), account="a", kind=TokenKind.BASIC)
        for name in ("feedbacks.feedbacks.list", "questions.questions.list", "feedbacks.news.check")
    }
    (bucket,) = buckets
    assert bucket.key == "wbtrio:{a}:basic:feedbacks"
    assert bucket.limit == Limit(HOUR, 5, 1)


def test_kinds_and_accounts_have_buckets_of_their_own(registry: Registry) -> None:
    operation = registry.operation("fbs.orders.list")
    keys = {
        registry.bucket_for(operation, account=account, kind=kind).key
        for account in ("a", "b")
        for kind in TokenKind
    }
    assert len(keys) == 2 * len(TokenKind)


def test_each_host_counts_its_own_pings(registry: Registry) -> None:
    ping = registry.operation("general.ping")
    keys = {
        registry.bucket_for(ping, account="a", kind=TokenKind.PERSONAL, host=host).key
        for host in ping.hosts
    }
    assert len(keys) == len(ping.hosts) == 14


def test_the_sandbox_counts_a_section_together_and_kinds_alike(registry: Registry) -> None:
    buckets = [
        registry.bucket_for(registry.operation(name), account="a", kind=kind, sandbox=True)
        for name in ("fbs.orders.list", "marketplace.stocks.update", "pickup.orders.new")
        for kind in (TokenKind.TEST, TokenKind.BASIC)
    ]
    assert {bucket.budget for bucket in buckets} == {"sandbox-marketplace"}
    assert {bucket.limit for bucket in buckets} == {Limit(MICROSECONDS, 1, 1)}


def test_an_operation_without_a_sandbox_budget_is_counted_apart_from_production(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.toml").write_text(
        '[operations."a.b.get"]\nhttp = "GET /b"\nhost = "x.example"\nlimits.all = "1 / 1 s,'
        ' burst 1"\nsandbox_host = "y.example"\n'
    )
    registry = Registry.load(tmp_path)
    operation = registry.operation("a.b.get")
    keys = {
        registry.bucket_for(operation, account="a", kind=TokenKind.TEST, sandbox=sandbox).key
        for sandbox in (False, True)
    }
    assert len(keys) == 2
    assert registry.is_sandbox_host("y.example")


def test_unknown_paths_share_one_strict_bucket_per_host(registry: Registry) -> None:
    host = "Content-API.wildberries.ru:443"
    bucket = registry.default_bucket(host, "a", TokenKind.BASIC)
    assert bucket.key == "wbtrio:{a}:basic:unknown@content-api.wildberries.ru"
    assert bucket.limit == Limit(HOUR, 1, 1)
    personal = registry.default_bucket(host, "a", TokenKind.PERSONAL)
    assert personal.limit == Limit(MINUTE, 1, 1)


def test_a_share_leaves_the_rest_of_a_budget_to_other_programs() -> None:
    registry = Registry.load(overrides={"budgets": {"prices": {"share": 0.5}}})
    budget = registry.budgets["prices"]
    assert budget.limit_for(TokenKind.PERSONAL) == Limit(12 * MICROSECONDS, 10, 2)
    assert budget.limit_for(TokenKind.BASIC) == Limit(2 * HOUR, 4, 1)
    assert registry.budgets["content"] == default_registry().budgets["content"]


def test_an_operations_own_budget_is_changed_by_its_id() -> None:
    overrides = {"budgets": {"content.cards.list": {"full": "300 / 1 min, burst 20"}}}
    registry = Registry.load(overrides=overrides)
    assert limit_of(registry, "content.cards.list", TokenKind.SERVICE) == "300 / 1 min, burst 20"
    assert limit_of(registry, "content.cards.list", TokenKind.BASIC) == "100 / 1 min, burst 5"


def test_a_later_folder_changes_only_the_keys_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        '[budgets.fbs-orders]\npersonal = "60 / 1 min, burst 5"\n\n'
        '[operations."content.cards.list"]\nlimits.basic = "1 / 1 h, burst 1"\n'
    )
    registry = Registry.load(shipped_folder(), tmp_path)
    assert limit_of(registry, "fbs.orders.list", TokenKind.PERSONAL) == "60 / 1 min, burst 5"
    assert limit_of(registry, "fbs.orders.list", TokenKind.SERVICE) == "300 / 1 min, burst 20"
    assert limit_of(registry, "content.cards.list", TokenKind.BASIC) == "1 / 1 h, burst 1"
    changed = registry.operation("content.cards.list")
    assert changed == default_registry().operation("content.cards.list")


def test_a_row_for_several_kinds_replaces_each_of_their_earlier_rows(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[budgets.prices]\nall = "1 / 1 min, burst 1"\n')
    registry = Registry.load(shipped_folder(), tmp_path)
    limits = {registry.budgets["prices"].limit_for(kind) for kind in TokenKind}
    assert limits == {Limit(MINUTE, 1, 1)}


def test_a_later_folder_may_add_operations(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        '[operations."content.wishes.list"]\nhttp = "GET /content/v9/wishes"\n'
        'host = "content"\nbudget = "content"\n'
    )
    registry = Registry.load(shipped_folder(), tmp_path)
    assert len(registry.operations) == 310
    found = registry.match("GET", "content-api.wildberries.ru", "/content/v9/wishes")
    assert found is not None
    assert (found.id, found.scope) == ("content.wishes.list", Scope.CONTENT)


@pytest.mark.parametrize("share", [0, -0.5, 1.5])
def test_overrides_are_validated_like_files(share: float) -> None:
    with pytest.raises(RegistryError, match="share") as caught:
        Registry.load(overrides={"budgets": {"prices": {"share": share}}})
    assert (caught.value.file, caught.value.line) == ("overrides", None)


def test_a_change_to_a_misspelt_budget_is_refused_and_names_the_nearest() -> None:
    with pytest.raises(RegistryError, match="prices"):
        Registry.load(overrides={"budgets": {"price": {"share": 0.5}}})
    with pytest.raises(RegistryError, match="Did you mean prices"):
        Registry.load(overrides={"budgets": {"price": {"all": "1 / 1 s, burst 1"}}})
