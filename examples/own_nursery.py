"""A trio program with a nursery of its own: two sellers side by side, one time limit for all.

    python examples/own_nursery.py TOKEN_FILE

Each seller's calls run in a scope that is a child of your nursery: cancel yours, and theirs end;
leave the block, and nothing runs on. Pages are asked for while the ones before are worked on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import trio

from wbtrio import RateLimited, WbApiClient, rows

Found = dict[str, tuple[int, int]]


async def count_cards(wb: WbApiClient, token: str, found: Found) -> None:
    """How many cards a seller has, and how many of them have no photo."""
    async with wb.account(token) as seller:
        cards = blank = 0
        pages = seller.pages("content.cards.list", type=rows.Card)
        async with pages.ahead() as ahead:
            async for page in ahead:
                cards += len(page.items)
                blank += sum(1 for card in page.items if not card.photos)
        found[seller.seller.account] = (cards, blank)


async def main(wb: WbApiClient, tokens: Sequence[str], *, limit: float = 600.0) -> Found:
    """Count the cards of several sellers, for as many seconds as you have."""
    found: Found = {}
    with trio.move_on_after(limit):
        async with trio.open_nursery() as nursery:
            for token in tokens:
                nursery.start_soon(count_cards, wb, token, found)
    return found


async def _run(token_file: str) -> None:
    tokens = (await trio.Path(token_file).read_text()).split()
    async with WbApiClient(max_wait=60) as wb:
        try:
            for account, (cards, blank) in (await main(wb, tokens)).items():
                print(f"{account}: {cards} cards, {blank} without a photo")
        except* RateLimited as refused:
            print(f"Come back later: {refused.exceptions[0]}")


if __name__ == "__main__":
    trio.run(_run, sys.argv[1])
