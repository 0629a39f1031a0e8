"""All rows of all sellers, and which request gets which of them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import rows
from .pagers import (
    Call,
    Json,
    Refused,
    Resource,
    Visit,
    changed_since,
    cursor_page,
    next_page,
    offset_page,
    wrapped_list,
    wrapped_refusal,
)
from .shelf import SECOND
from .shop import Shop, Stock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .replies import Answer

Place = tuple[str, str]
"""HTTP method and path template."""

RESOURCES: Mapping[Place, Resource] = {
    ("POST", "/content/v2/get/cards/list"): Resource(
        name="cards",
        render=rows.card,
        reply=cursor_page("updatedAt", photo_filter=True),
        refuse=wrapped_refusal,
        first_id=100_000_000,
    ),
    ("GET", "/api/v2/list/goods/filter"): Resource(
        name="prices",
        render=rows.goods_price,
        reply=offset_page(wrapped_list("listGoods")),
        refuse=wrapped_refusal,
        first_id=100_000_000,
    ),
    ("GET", "/api/v3/orders"): Resource(
        name="orders",
        render=rows.assembly_order,
        reply=next_page("orders", dates=True),
        first_id=3_000_000_000,
        resolution=SECOND,
    ),
    ("GET", "/api/v1/supplier/orders"): Resource(
        name="statistics_orders",
        render=rows.ordered_item,
        reply=changed_since,
        first_id=5_000_000_000,
        group=3,
        resolution=SECOND,
    ),
}


class Catalogue:
    """Everything that all sellers have, made up from a seed as it is asked for."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self._shops: dict[str, Shop] = {}

    def answer(self, place: Place, account: str, call: Call, now: int) -> Answer | None:
        """The reply to a request, or None for a method that hands out no rows.

        Args:
            place: Method and path template.
            account: The seller's.
            call: Its parameters.
            now: µs of the simulator's clock.
        """
        resource = RESOURCES.get(place)
        if resource is None:
            return None
        shop = self.shop(account)
        visit = Visit(shop, resource, shop.shelf(resource, now), call, now)
        try:
            return resource.reply(visit)
        except Refused as refused:
            return refused.answer

    def rows(self, account: str, name: str, now: int = 0) -> list[Json]:
        """All rows that a seller has of a resource, oldest change first: what an import owes.

        Raises:
            KeyError: No such resource.
        """
        resource = {item.name: item for item in RESOURCES.values()}[name]
        shop = self.shop(account)
        return [resource.render(shop, key) for key in shop.shelf(resource, now).keys]

    def shop(self, account: str) -> Shop:
        """One seller's side."""
        return self._shops.setdefault(account, Shop(account, self.stock))
