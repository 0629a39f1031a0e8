"""Rows of Reports: the statistics of orders and sales, remains, paid storage."""

from __future__ import annotations

from decimal import Decimal

from msgspec import field

from wbtrio.rows._base import Row


class _StatisticsRow(Row, frozen=True, kw_only=True):
    srid: str
    date: str | None = None
    last_change_date: str | None = None
    warehouse_name: str | None = None
    warehouse_type: str | None = None
    country_name: str | None = None
    oblast_okrug_name: str | None = None
    region_name: str | None = None
    supplier_article: str | None = None
    nm_id: int | None = None
    barcode: str | None = None
    category: str | None = None
    subject: str | None = None
    brand: str | None = None
    tech_size: str | None = None
    income_id: int | None = field(default=None, name="incomeID")
    is_supply: bool | None = None
    is_realization: bool | None = None
    total_price: Decimal | None = None
    discount_percent: float | None = None
    spp: float | None = None
    finished_price: Decimal | None = None
    price_with_disc: Decimal | None = None
    sticker: str | None = None
    g_number: str | None = None


class StatisticsOrder(_StatisticsRow, frozen=True, kw_only=True):
    """One ordered piece: `statistics.orders.list`. Money is roubles.

    With `flag=0` a page holds what *changed* since `dateFrom`, so `date` may be weeks older: an
    importer keeps such rows and updates by `srid` (field case WB-024).

    Attributes:
        srid: Id of the order, the key; `rid` in Marketplace.
        date: When it was ordered, Moscow time.
        last_change_date: When this row last changed, Moscow time; the cursor of the list.
        warehouse_name: Warehouse of shipment.
        warehouse_type: `Склад WB` or `Склад продавца` (the seller's).
        country_name: Country of delivery.
        oblast_okrug_name: Federal district.
        region_name: Region.
        supplier_article: The seller's item number.
        nm_id: WB's item number.
        barcode: Barcode.
        category: WB's category.
        subject: WB's subject.
        brand: Brand.
        tech_size: The seller's name of the size.
        income_id: Number of the supply it came in.
        is_supply: Sold under a supply contract.
        is_realization: Sold under a commission contract.
        total_price: Before discounts.
        discount_percent: The seller's discount, per cent.
        spp: WB's discount, per cent.
        finished_price: With all discounts but WB Wallet's.
        price_with_disc: With the seller's discount, the WB Club's included.
        sticker: Id of the sticker.
        g_number: Id of the basket.
        is_cancel: Whether it was cancelled.
        cancel_date: When, Moscow time; the year 1 if it was not.
    """

    is_cancel: bool | None = None
    cancel_date: str | None = None


class StatisticsSale(_StatisticsRow, frozen=True, kw_only=True):
    """One piece sold or returned: `statistics.sales.list`. Money is roubles.

    WB fills in the three money fields of the payment within 24 hours; until then they may be 0.

    Attributes:
        sale_id: `S...` a sale, `R...` a return; the key.
        srid: Id of the order; a sale and its return share it.
        date: When it was sold or returned, Moscow time.
        last_change_date: When this row last changed, Moscow time; the cursor of the list.
        warehouse_name: Warehouse of shipment.
        warehouse_type: `Склад WB` or `Склад продавца` (the seller's).
        country_name: Country of delivery.
        oblast_okrug_name: Federal district.
        region_name: Region.
        supplier_article: The seller's item number.
        nm_id: WB's item number.
        barcode: Barcode.
        category: WB's category.
        subject: WB's subject.
        brand: Brand.
        tech_size: The seller's name of the size.
        income_id: Number of the supply it came in.
        is_supply: Sold under a supply contract.
        is_realization: Sold under a commission contract.
        total_price: Before discounts.
        discount_percent: The seller's discount, per cent.
        spp: WB's discount, per cent.
        payment_sale_amount: Discount for paying by WB Wallet.
        for_pay: What WB owes the seller for it.
        finished_price: What the buyer pays.
        price_with_disc: With the seller's discount; `for_pay` is counted from it.
        sticker: Id of the sticker.
        g_number: Id of the basket.
    """

    sale_id: str = field(name="saleID")
    payment_sale_amount: Decimal | None = None
    for_pay: Decimal | None = None


class RemainsWarehouse(Row, frozen=True, kw_only=True):
    """How much of an item lies in one place.

    Attributes:
        warehouse_name: A warehouse, or one of the sums `В пути до получателей`, `В пути
            возвраты на склад WB`, `Всего находится на складах`.
        quantity: Pieces; places with none are left out by WB.
    """

    warehouse_name: str
    quantity: int | None = None


class WarehouseRemains(Row, frozen=True, kw_only=True):
    """Remains of an item at WB's warehouses: `reports.warehouse_remains.download`.

    Which fields come depends on the grouping that the task was created with.

    Attributes:
        brand: Brand.
        subject_name: WB's subject.
        vendor_code: The seller's item number.
        nm_id: WB's item number.
        barcode: Barcode.
        tech_size: The seller's name of the size.
        volume: Litres.
        warehouses: Pieces in each place.
    """

    brand: str | None = None
    subject_name: str | None = None
    vendor_code: str | None = None
    nm_id: int | None = None
    barcode: str | None = None
    tech_size: str | None = None
    volume: float | None = None
    warehouses: tuple[RemainsWarehouse, ...] | None = None


class PaidStorage(Row, frozen=True, kw_only=True):
    """A day's storage of an item: `reports.paid_storage.download`. Money is roubles.

    Attributes:
        date: Day that is charged, or charged anew.
        log_warehouse_coef: Multiplier of logistics and storage.
        office_id: WB's id of the warehouse.
        warehouse: Its name.
        warehouse_coef: Its multiplier.
        gi_id: Number of the supply.
        chrt_id: WB's id of the size.
        size: The seller's name of it.
        barcode: Barcode.
        subject: WB's subject.
        brand: Brand.
        vendor_code: The seller's item number.
        nm_id: WB's item number.
        volume: Litres.
        calc_type: How it was calculated.
        warehouse_price: The day's charge.
        barcodes_count: Pieces charged.
        pallet_place_code: Code of the pallet's place.
        pallet_count: Pallets.
        original_date: Day of the first charge, where it was charged anew.
        loyalty_discount: Discount of the loyalty programme, roubles.
        tariff_fix_date: When the tariff was fixed.
        tariff_lower_date: When it was lowered.
    """

    date: str | None = None
    log_warehouse_coef: float | None = None
    office_id: int | None = None
    warehouse: str | None = None
    warehouse_coef: float | None = None
    gi_id: int | None = None
    chrt_id: int | None = None
    size: str | None = None
    barcode: str | None = None
    subject: str | None = None
    brand: str | None = None
    vendor_code: str | None = None
    nm_id: int | None = None
    volume: float | None = None
    calc_type: str | None = None
    warehouse_price: Decimal | None = None
    barcodes_count: int | None = None
    pallet_place_code: int | None = None
    pallet_count: float | None = None
    original_date: str | None = None
    loyalty_discount: Decimal | None = None
    tariff_fix_date: str | None = None
    tariff_lower_date: str | None = None
