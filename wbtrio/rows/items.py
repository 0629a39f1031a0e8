"""Rows of Content and Prices: cards, and the goods' prices."""

from __future__ import annotations

from decimal import Decimal

from msgspec import field

from wbtrio.rows._base import Row


class CardPhoto(Row, frozen=True, kw_only=True):
    """Addresses of one photo of a card in five sizes, in pixels.

    Attributes:
        big: 900 x 1200.
        c246x328: 248 x 328.
        c516x688: 516 x 688.
        square: 600 x 600.
        tm: 75 x 100.
    """

    big: str | None = None
    c246x328: str | None = None
    c516x688: str | None = None
    square: str | None = None
    tm: str | None = None


class CardDimensions(Row, frozen=True, kw_only=True):
    """Size and weight of the packed item.

    Attributes:
        length: cm.
        width: cm.
        height: cm.
        weight_brutto: kg, up to three decimals.
        is_valid: False where WB suspects a mistake; True proves nothing.
    """

    length: float | None = None
    width: float | None = None
    height: float | None = None
    weight_brutto: float | None = None
    is_valid: bool | None = None


class CardCharacteristic(Row, frozen=True, kw_only=True):
    """One characteristic of a card.

    Attributes:
        id: WB's id of the characteristic.
        name: Its name, in Russian unless another locale was asked for.
        value: A list of texts or one number, as the characteristic's type has it.
    """

    id: int
    name: str | None = None
    value: object = None


class CardSize(Row, frozen=True, kw_only=True):
    """One size of a card; barcodes belong to sizes.

    Attributes:
        chrt_id: WB's id of the size: `sizeID` in Prices, `chrtId` in Marketplace.
        tech_size: The seller's name of it; "0" for an item without sizes.
        wb_size: The Russian size.
        skus: Barcodes.
    """

    chrt_id: int = field(name="chrtID")
    tech_size: str | None = None
    wb_size: str | None = None
    skus: tuple[str, ...] | None = None


class CardTag(Row, frozen=True, kw_only=True):
    """A label that the seller put on a card.

    Attributes:
        id: WB's id of the label.
        name: Its name.
        color: Its colour, six hexadecimal digits.
    """

    id: int
    name: str | None = None
    color: str | None = None


class Wholesale(Row, frozen=True, kw_only=True):
    """Wholesale terms of a card.

    Attributes:
        enabled: Whether it is sold wholesale.
        quantum: Pieces in a package.
    """

    enabled: bool | None = None
    quantum: int | None = None


class Card(Row, frozen=True, kw_only=True):
    """A product card: `content.cards.list`; of `content.trash.list` with `trashed_at`.

    Attributes:
        nm_id: WB's item number, the key.
        imt_id: Shared by all cards that are merged into one page.
        nm_uuid: WB's technical id.
        subject_id: WB's id of the subject (the item's sort).
        subject_name: Its name.
        vendor_code: The seller's item number.
        brand: Brand.
        title: Title of the card.
        description: Its text.
        need_kiz: Whether each piece needs a marking code.
        photos: Photos, the main one first.
        video: Address of the video.
        wholesale: Wholesale terms.
        dimensions: Size and weight when packed.
        characteristics: Everything else that the card states.
        sizes: Sizes and their barcodes.
        tags: The seller's labels.
        created_at: RFC 3339, UTC.
        updated_at: RFC 3339, UTC; may be null since March 2026 (field case WB-042), so that
            the next cursor is the reply's, not the last row's.
        trashed_at: When it was put into the trash, RFC 3339.
    """

    nm_id: int = field(name="nmID")
    imt_id: int | None = field(default=None, name="imtID")
    nm_uuid: str | None = field(default=None, name="nmUUID")
    subject_id: int | None = field(default=None, name="subjectID")
    subject_name: str | None = None
    vendor_code: str | None = None
    brand: str | None = None
    title: str | None = None
    description: str | None = None
    need_kiz: bool | None = None
    photos: tuple[CardPhoto, ...] | None = None
    video: str | None = None
    wholesale: Wholesale | None = None
    dimensions: CardDimensions | None = None
    characteristics: tuple[CardCharacteristic, ...] | None = None
    sizes: tuple[CardSize, ...] | None = None
    tags: tuple[CardTag, ...] | None = None
    created_at: str | None = None
    updated_at: str | None = None
    trashed_at: str | None = None


class GoodsSize(Row, frozen=True, kw_only=True):
    """Prices of one size, in the currency of its goods.

    Attributes:
        size_id: WB's id of the size: `chrtID` in Content.
        price: Before discounts, whole units of the currency.
        discounted_price: With the seller's discount.
        club_discounted_price: With the seller's and the WB Club's discount.
        tech_size_name: The seller's name of the size.
    """

    size_id: int = field(name="sizeID")
    price: Decimal | None = None
    discounted_price: Decimal | None = None
    club_discounted_price: Decimal | None = None
    tech_size_name: str | None = None


class Goods(Row, frozen=True, kw_only=True):
    """An item with its prices: `prices.goods.list`.

    Attributes:
        nm_id: WB's item number, the key.
        vendor_code: The seller's item number.
        sizes: Prices of each size.
        currency_iso_code_4217: Currency of the prices, such as RUB.
        discount: The seller's discount, per cent.
        club_discount: The WB Club's discount, per cent.
        editable_size_price: Whether sizes may have prices of their own.
        is_bad_turnover: Whether WB counts it as unsaleable.
    """

    nm_id: int = field(name="nmID")
    vendor_code: str | None = None
    sizes: tuple[GoodsSize, ...] | None = None
    currency_iso_code_4217: str | None = field(default=None, name="currencyIsoCode4217")
    discount: float | None = None
    club_discount: float | None = None
    editable_size_price: bool | None = None
    is_bad_turnover: bool | None = None
