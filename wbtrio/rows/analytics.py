"""Rows of Analytics: the order feed, the sales funnel, stocks.

Money is in the currency that the reply names beside the rows (`data.currency`).
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import field

from wbtrio.rows._base import Row


class FeedOrder(Row, frozen=True, kw_only=True):
    """One order of the last 31 days, newest first: `analytics.order_feed.list`.

    Attributes:
        srid: Id of the order, the key.
        nm_id: WB's item number.
        chrt_id: WB's id of the size.
        created_at: When it was ordered, RFC 3339.
        updated_at: When it reached its state.
        status: created, buyout, cancel, return, returnDefective.
        cancel_type: app, receipt, expire, other; of cancelled orders only.
        warehouse_name: Warehouse of shipment.
        warehouse_region: Its federal district, or its country if that is not Russia.
        is_mp: Shipped from a warehouse of the seller's.
        destination_city: Place of delivery.
        destination_district: Its federal district, or its country if that is not Russia.
        seller_price: With the seller's discount, without the WB Club's and the wholesale one.
        is_b2b: Whether the buyer is a business.
    """

    srid: str
    nm_id: int | None = None
    chrt_id: int | None = None
    created_at: str | None = None
    updated_at: str | None = None
    status: str | None = None
    cancel_type: str | None = None
    warehouse_name: str | None = None
    warehouse_region: str | None = None
    is_mp: bool | None = None
    destination_city: str | None = None
    destination_district: str | None = None
    seller_price: Decimal | None = None
    is_b2b: bool | None = field(default=None, name="isB2b")


class FunnelStocks(Row, frozen=True, kw_only=True):
    """Pieces in stock today.

    Attributes:
        wb: At WB's warehouses.
        mp: At the seller's.
        balance_sum: At both.
    """

    wb: int | None = None
    mp: int | None = None
    balance_sum: int | None = None


class FunnelItem(Row, frozen=True, kw_only=True):
    """The item that a funnel is of.

    Attributes:
        nm_id: WB's item number.
        title: Title of its card.
        vendor_code: The seller's item number.
        brand_name: Brand.
        subject_id: WB's id of the subject.
        subject_name: Its name.
        product_rating: WB's rating of the card.
        feedback_rating: The buyers' rating.
        stocks: Pieces in stock.
    """

    nm_id: int
    title: str | None = None
    vendor_code: str | None = None
    brand_name: str | None = None
    subject_id: int | None = None
    subject_name: str | None = None
    product_rating: float | None = None
    feedback_rating: float | None = None
    stocks: FunnelStocks | None = None


class FunnelPeriod(Row, frozen=True, kw_only=True):
    """First and last day of a period, `YYYY-MM-DD`.

    Attributes:
        start: The first day.
        end: The last day, included.
    """

    start: str | None = None
    end: str | None = None


class Conversions(Row, frozen=True, kw_only=True):
    """How many of those at one step took the next, per cent.

    Attributes:
        add_to_cart_percent: Of those who opened the card, put it into the basket.
        cart_to_order_percent: Of those, ordered.
        buyout_percent: Of those, bought; without what is still on its way.
    """

    add_to_cart_percent: float | None = None
    cart_to_order_percent: float | None = None
    buyout_percent: float | None = None


class FunnelStatistic(Row, frozen=True, kw_only=True):
    """The funnel of one item in one period. Counts are pieces.

    Attributes:
        period: The period.
        open_count: Visits of the card.
        cart_count: Put into a basket.
        order_count: Ordered.
        order_sum: Money ordered for.
        buyout_count: Bought.
        buyout_sum: Money bought for.
        cancel_count: Cancelled and returned.
        cancel_sum: Money of those.
        avg_price: Average price.
        avg_orders_count_per_day: Average orders a day.
        share_order_percent: Share of the seller's revenue, per cent.
        add_to_wishlist: Put aside for later.
        localization_percent: Orders from within the region, per cent.
        conversions: Shares from step to step.
    """

    period: FunnelPeriod | None = None
    open_count: int | None = None
    cart_count: int | None = None
    order_count: int | None = None
    order_sum: Decimal | None = None
    buyout_count: int | None = None
    buyout_sum: Decimal | None = None
    cancel_count: int | None = None
    cancel_sum: Decimal | None = None
    avg_price: Decimal | None = None
    avg_orders_count_per_day: float | None = None
    share_order_percent: float | None = None
    add_to_wishlist: int | None = None
    localization_percent: float | None = None
    conversions: Conversions | None = None


class FunnelPeriods(Row, frozen=True, kw_only=True):
    """The period that was asked for, and the one that it is compared with.

    Attributes:
        selected: Asked for.
        past: Compared with; None unless asked for.
    """

    selected: FunnelStatistic | None = None
    past: FunnelStatistic | None = None


class FunnelProduct(Row, frozen=True, kw_only=True):
    """An item and its sales funnel: `analytics.funnel.list`; the key is `product.nm_id`.

    Attributes:
        product: The item.
        statistic: Its figures.
    """

    product: FunnelItem
    statistic: FunnelPeriods | None = None


class Duration(Row, frozen=True, kw_only=True):
    """Days and hours; of `hours`, -1 is endless, -2 is none, -3 and below not calculated.

    Attributes:
        days: Whole days.
        hours: Hours beyond them, or one of the marks above.
    """

    days: int | None = None
    hours: int | None = None


class PriceRange(Row, frozen=True, kw_only=True):
    """The seller's lowest and highest price with the seller's discount.

    Attributes:
        min_price: The lowest.
        max_price: The highest.
    """

    min_price: Decimal | None = None
    max_price: Decimal | None = None


class StockMetrics(Row, frozen=True, kw_only=True):
    """Figures of an item's stock. Counts are pieces; lost ones below 0 are not calculated (-2: 0).

    Attributes:
        orders_count: Ordered.
        orders_sum: Money ordered for.
        avg_orders: Average orders a day.
        buyout_count: Bought.
        buyout_sum: Money bought for.
        buyout_percent: Share of the orders that were bought, per cent.
        stock_count: In stock today.
        stock_sum: Value of the stock.
        sale_rate: How long today's stock will last.
        avg_stock_turnover: The same of the average stock.
        to_client_count: On the way to buyers.
        from_client_count: On the way back.
        office_missing_time: How long it was not in stock.
        lost_orders_count: Orders lost for that.
        lost_orders_sum: Money of those.
        lost_buyouts_count: Sales lost for that.
        lost_buyouts_sum: Money of those.
        current_price: Range of prices.
        availability: deficient, actual, balanced, nonActual, nonLiquid, invalidData.
    """

    orders_count: int | None = None
    orders_sum: Decimal | None = None
    avg_orders: float | None = None
    buyout_count: int | None = None
    buyout_sum: Decimal | None = None
    buyout_percent: float | None = None
    stock_count: int | None = None
    stock_sum: Decimal | None = None
    sale_rate: Duration | None = None
    avg_stock_turnover: Duration | None = None
    to_client_count: int | None = None
    from_client_count: int | None = None
    office_missing_time: Duration | None = None
    lost_orders_count: float | None = None
    lost_orders_sum: Decimal | None = None
    lost_buyouts_count: float | None = None
    lost_buyouts_sum: Decimal | None = None
    current_price: PriceRange | None = None
    availability: str | None = None


class StockItem(Row, frozen=True, kw_only=True):
    """An item and its stock figures: `analytics.stock_items.list`.

    Attributes:
        nm_id: WB's item number, the key.
        is_deleted: Whether its card was deleted.
        subject_name: WB's subject.
        name: Title of the card.
        vendor_code: The seller's item number.
        brand_name: Brand.
        main_photo: Address of the main photo.
        has_sizes: False: one size, whose name is "0".
        metrics: The figures.
    """

    nm_id: int = field(name="nmID")
    is_deleted: bool | None = None
    subject_name: str | None = None
    name: str | None = None
    vendor_code: str | None = None
    brand_name: str | None = None
    main_photo: str | None = None
    has_sizes: bool | None = None
    metrics: StockMetrics | None = None


class WbStock(Row, frozen=True, kw_only=True):
    """Stock of one size at one of WB's warehouses: `analytics.wb_stocks.list`.

    Since the autumn of 2026 WB names one warehouse only, `Склад WB` with the id -999999. Updated
    every 30 minutes. The three first fields are the key. Counts are pieces.

    Attributes:
        nm_id: WB's item number.
        chrt_id: WB's id of the size.
        warehouse_id: WB's id of the warehouse.
        warehouse_name: Its name.
        region_name: Region of shipment.
        quantity: To be bought now.
        in_way_to_client: On the way to buyers.
        in_way_from_client: On the way back.
    """

    nm_id: int
    chrt_id: int
    warehouse_id: int
    warehouse_name: str | None = None
    region_name: str | None = None
    quantity: int | None = None
    in_way_to_client: int | None = None
    in_way_from_client: int | None = None
