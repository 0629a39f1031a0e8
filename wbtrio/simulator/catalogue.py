"""All rows of all sellers, and which request gets which of them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .resources import RESOURCES
from .shop import Shop, Stock
from .visit import Call, Refused, Visit

if TYPE_CHECKING:
    from .replies import Answer
    from .resources import Place
    from .visit import Json


class Catalogue:
    """Everything that all sellers have, made up from a seed as it is asked for.

    Raises:
        ValueError: The stock speaks of a resource that there is none of.
    """

    def __init__(self, stock: Stock) -> None:
        named = {*stock.rows, *stock.caps, *stock.stuck}
        named |= {motion.resource for motion in stock.motions}
        named |= {name for rows in stock.sellers.values() for name in rows}
        unknown = named - {resource.name for resource in RESOURCES.values()}
        if unknown:
            raise ValueError(f"no such resource: {', '.join(sorted(unknown))}")
        self.stock = stock
        self._shops: dict[str, Shop] = {}

    def answer(self, place: Place, seller: str, call: Call, now: int) -> Answer | None:
        """The reply to a request, or None for a method that hands out no rows.

        Args:
            place: Method and path template.
            seller: Whose rows.
            call: The request's parameters.
            now: µs of the simulator's clock.
        """
        resource = RESOURCES.get(place)
        if resource is None:
            return None
        shop = self.shop(seller)
        visit = Visit(shop, resource, shop.shelf(resource, now), call, now)
        try:
            return resource.reply(visit)
        except Refused as refused:
            return refused.answer

    def rows(self, seller: str, name: str, now: float = 0.0) -> list[Json]:
        """All rows that a seller has of a resource, oldest change first: what an import owes.

        Args:
            seller: The `sid`.
            name: The resource's.
            now: Seconds of the simulator's clock; not before a moment already asked for.

        Raises:
            KeyError: No such resource.
        """
        resource = next((item for item in RESOURCES.values() if item.name == name), None)
        if resource is None:
            raise KeyError(name)
        shop = self.shop(seller)
        keys = shop.shelf(resource, round(now * 1_000_000)).keys
        return [resource.render(shop, key) for key in keys]

    def shop(self, seller: str) -> Shop:
        """One seller's side."""
        shop = self._shops.get(seller)
        if shop is None:
            shop = self._shops[seller] = Shop(seller, self.stock)
        return shop
