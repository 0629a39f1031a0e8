"""Rows of Marketplace and Supplies: assembly orders, supplies, warehouses."""

from __future__ import annotations

from msgspec import field

from wbtrio.rows._base import Row


class Address(Row, frozen=True, kw_only=True):
    """Where a buyer wants an order delivered.

    Attributes:
        full_address: One line, in Russian.
        longitude: Degrees.
        latitude: Degrees.
    """

    full_address: str | None = None
    longitude: float | None = None
    latitude: float | None = None


class OrderOptions(Row, frozen=True, kw_only=True):
    """Marks of an assembly order.

    Attributes:
        is_b2b: Whether the buyer is a business.
    """

    is_b2b: bool | None = field(default=None, name="isB2b")


class FbsOrder(Row, frozen=True, kw_only=True):
    """An assembly order of the FBS scheme: `fbs.orders.list`, `fbs.orders.new`.

    Attributes:
        id: Number of the assembly order, the key.
        rid: Id of the order, `srid` in statistics, finance and claims.
        order_uid: Shared by all assembly orders of one basket.
        created_at: RFC 3339, UTC.
        article: The seller's item number.
        nm_id: WB's item number.
        chrt_id: WB's id of the size.
        skus: Barcodes.
        color_code: RAL code, for tinted goods only.
        price: In hundredths of `currency_code`, all discounts but WB Wallet's taken off.
        converted_price: The same in hundredths of `converted_currency_code`, the seller's.
        scan_price: Price at acceptance in kopecks; None before it.
        currency_code: Number of the sale's currency, ISO 4217 (643: roubles).
        converted_currency_code: Number of the seller's currency.
        warehouse_id: The seller's warehouse that it came to.
        office_id: WB's warehouse that the seller's is tied to.
        offices: WB's offices to bring it to.
        supply_id: Supply that it is packed in; None before.
        delivery_type: `fbs`.
        cargo_type: 1 small, 2 oversized, 3 large (KGT+).
        cross_border_type: 1 if it crosses a border.
        comment: The buyer's comment.
        is_zero_order: Ordered from a stock of zero; may be cancelled without a fine.
        address: The buyer's address, where it applies.
        options: Further marks.
    """

    id: int
    rid: str | None = None
    order_uid: str | None = None
    created_at: str | None = None
    article: str | None = None
    nm_id: int | None = None
    chrt_id: int | None = None
    skus: tuple[str, ...] | None = None
    color_code: str | None = None
    price: int | None = None
    converted_price: int | None = None
    scan_price: int | None = None
    currency_code: int | None = None
    converted_currency_code: int | None = None
    warehouse_id: int | None = None
    office_id: int | None = None
    offices: tuple[str, ...] | None = None
    supply_id: str | None = None
    delivery_type: str | None = None
    cargo_type: int | None = None
    cross_border_type: int | None = None
    comment: str | None = None
    is_zero_order: bool | None = None
    address: Address | None = None
    options: OrderOptions | None = None


class FbsSupply(Row, frozen=True, kw_only=True):
    """A supply of the FBS scheme: `fbs.supplies.list`.

    Attributes:
        id: Such as `WB-GI-1234567`, the key.
        name: The seller's name of it.
        done: Whether it is closed.
        is_b2b: Whether its orders are of businesses; None for an empty supply.
        created_at: RFC 3339, UTC.
        closed_at: When it was closed.
        scan_dt: When WB scanned it.
        cargo_type: 0 none yet, 1 small, 2 oversized, 3 large (KGT+).
        cross_border_type: 1 if it crosses a border.
        destination_office_id: WB's warehouse that it goes to.
    """

    id: str
    name: str | None = None
    done: bool | None = None
    is_b2b: bool | None = field(default=None, name="isB2b")
    created_at: str | None = None
    closed_at: str | None = None
    scan_dt: str | None = None
    cargo_type: int | None = None
    cross_border_type: int | None = None
    destination_office_id: int | None = None


class SellerWarehouse(Row, frozen=True, kw_only=True):
    """A warehouse of the seller's: `marketplace.warehouses.list`.

    Attributes:
        id: WB's number of it, the key.
        name: The seller's name of it.
        office_id: WB's warehouse that it is tied to.
        cargo_type: 1 small, 2 oversized, 3 large (KGT+).
        delivery_type: 1 FBS, 2 DBS, 3 DBW, 5 click and collect, 6 express DBS.
        is_deleting: It is being deleted.
        is_processing: It is being changed; stocks cannot be written for minutes.
    """

    id: int
    name: str | None = None
    office_id: int | None = None
    cargo_type: int | None = None
    delivery_type: int | None = None
    is_deleting: bool | None = None
    is_processing: bool | None = None


class FbwSupply(Row, frozen=True, kw_only=True):
    """A supply to WB's warehouses, or an order for one: `fbw.supplies.list`.

    Attributes:
        supply_id: The supply; None or 0 while it is but an order: then `preorder_id` is its
            key (field case WB-039).
        preorder_id: The order; 0 for a virtual supply.
        phone: Who made it, partly hidden by WB.
        create_date: RFC 3339.
        supply_date: Planned day of shipment.
        fact_date: When it was shipped.
        updated_date: When it was changed.
        status_id: 1 not planned, 2 planned, 3 may be shipped, 4 being accepted, 5 accepted,
            6 unloaded at the gate.
    """

    supply_id: int | None = field(default=None, name="supplyID")
    preorder_id: int | None = field(default=None, name="preorderID")
    phone: str | None = None
    create_date: str | None = None
    supply_date: str | None = None
    fact_date: str | None = None
    updated_date: str | None = None
    status_id: int | None = field(default=None, name="statusID")


class FbwSupplyGoods(Row, frozen=True, kw_only=True):
    """An item of a supply to WB's warehouses: `fbw.supply_goods.list`. Counts are pieces.

    Attributes:
        barcode: Barcode, the key within a supply.
        vendor_code: The seller's item number.
        nm_id: WB's item number.
        need_kiz: Whether each piece needs a marking code.
        tnved: Customs code (TN VED).
        tech_size: The seller's name of the size.
        color: Colour.
        supplier_box_amount: In one package, as declared.
        quantity: In the supply.
        ready_for_sale_quantity: On sale already.
        accepted_quantity: Accepted.
        unloading_quantity: Being laid out.
    """

    barcode: str
    vendor_code: str | None = None
    nm_id: int | None = field(default=None, name="nmID")
    need_kiz: bool | None = None
    tnved: str | None = None
    tech_size: str | None = None
    color: str | None = None
    supplier_box_amount: int | None = None
    quantity: int | None = None
    ready_for_sale_quantity: int | None = None
    accepted_quantity: int | None = None
    unloading_quantity: int | None = None
