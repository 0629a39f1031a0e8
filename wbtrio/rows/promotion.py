"""Rows of Promotion and Tariffs: campaigns and their statistics, promotions, box tariffs."""

from __future__ import annotations

from decimal import Decimal

from wbtrio.rows._base import Row


class CampaignBids(Row, frozen=True, kw_only=True, rename=None):
    """Bids for one item, in kopecks.

    Attributes:
        search: In search.
        recommendations: In recommendations.
    """

    search: int | None = None
    recommendations: int | None = None


class CampaignSubject(Row, frozen=True, kw_only=True, rename=None):
    """WB's subject of an item.

    Attributes:
        id: Its id.
        name: Its name.
    """

    id: int
    name: str | None = None


class CampaignItem(Row, frozen=True, kw_only=True, rename=None):
    """An item in a campaign.

    Attributes:
        nm_id: WB's item number.
        bids_kopecks: Bids, in kopecks.
        subject: WB's subject.
    """

    nm_id: int
    bids_kopecks: CampaignBids | None = None
    subject: CampaignSubject | None = None


class Placements(Row, frozen=True, kw_only=True, rename=None):
    """Where a campaign is shown.

    Attributes:
        search: In search.
        recommendations: In recommendations.
    """

    search: bool | None = None
    recommendations: bool | None = None


class CampaignSettings(Row, frozen=True, kw_only=True, rename=None):
    """How a campaign is set up.

    Attributes:
        name: The seller's name of it.
        payment_type: cpm (per thousand views) or cpc (per click).
        placements: Where it is shown.
    """

    name: str | None = None
    payment_type: str | None = None
    placements: Placements | None = None


class CampaignTimestamps(Row, frozen=True, kw_only=True, rename=None):
    """Moments of a campaign, RFC 3339.

    Attributes:
        created: When it was made.
        updated: When it was last changed.
        started: When it was last started; None: never.
        deleted: When it was deleted; in the far future (2100) if it was not.
    """

    created: str | None = None
    updated: str | None = None
    started: str | None = None
    deleted: str | None = None


class Campaign(Row, frozen=True, kw_only=True, rename=None):
    """An advertising campaign: `promotion.campaigns.list`.

    Attributes:
        id: The key.
        status: -1 being deleted, 4 ready, 7 finished, 8 cancelled, 9 running, 11 paused.
        bid_type: manual or unified.
        settings: Its settings.
        nm_settings: Its items.
        timestamps: Its moments.
    """

    id: int
    status: int | None = None
    bid_type: str | None = None
    settings: CampaignSettings | None = None
    nm_settings: tuple[CampaignItem, ...] | None = None
    timestamps: CampaignTimestamps | None = None


class _AdFigures(Row, frozen=True, kw_only=True, rename=None):
    views: int | None = None
    clicks: int | None = None
    ctr: float | None = None
    cpc: Decimal | None = None
    cr: float | None = None
    atbs: int | None = None
    orders: int | None = None
    shks: int | None = None
    canceled: int | None = None
    sum: Decimal | None = None
    sum_price: Decimal | None = None


class CampaignDay(_AdFigures, frozen=True, kw_only=True):
    """A day of a campaign; the figures are those of `CampaignStatistics`.

    Attributes:
        date: The day, as a moment at midnight UTC.
        views: See `CampaignStatistics`, as all that follow.
        clicks: Clicks.
        ctr: Clicks per views, per cent.
        cpc: Roubles a click.
        cr: Orders per clicks, per cent.
        atbs: Put into a basket.
        orders: Orders.
        shks: Pieces ordered.
        canceled: Pieces cancelled.
        sum: Roubles spent.
        sum_price: Roubles ordered for.
    """

    date: str | None = None


class CampaignStatistics(_AdFigures, frozen=True, kw_only=True, rename={"advert_id": "advertId"}):
    """What a campaign brought: `promotion.stats.list`. Money is roubles.

    Attributes:
        advert_id: Id of the campaign, the key.
        views: Views.
        clicks: Clicks.
        ctr: Clicks per views, per cent.
        cpc: Average price of a click.
        cr: Orders per clicks, per cent.
        atbs: Put into a basket.
        orders: Orders.
        shks: Pieces ordered.
        canceled: Pieces cancelled.
        sum: Spent.
        sum_price: Ordered for.
        days: The same day by day.
    """

    advert_id: int
    days: tuple[CampaignDay, ...] | None = None


class Promotion(Row, frozen=True, kw_only=True):
    """A promotion of WB's calendar: `calendar.promotions.list`.

    Attributes:
        id: The key.
        name: Its name.
        start_date_time: RFC 3339, UTC.
        end_date_time: RFC 3339, UTC.
        type: regular, or auto (WB enters the items itself).
    """

    id: int
    name: str | None = None
    start_date_time: str | None = None
    end_date_time: str | None = None
    type: str | None = None


class BoxTariff(Row, frozen=True, kw_only=True):
    """Tariffs of one warehouse for boxes: `tariffs.box.list`.

    All figures are texts with a decimal comma, "-" where WB has none: `wbtrio.rows.decimal`
    reads them. Prices are roubles, multipliers per cent and already within the prices.

    Attributes:
        warehouse_name: Name of the warehouse, the key.
        geo_name: Federal district, or country outside Russia.
        box_delivery_base: Logistics, the first litre.
        box_delivery_liter: Logistics, each further litre.
        box_delivery_coef_expr: Multiplier of logistics.
        box_delivery_marketplace_base: Logistics of FBS, the first litre.
        box_delivery_marketplace_liter: Logistics of FBS, each further litre.
        box_delivery_marketplace_coef_expr: Multiplier of logistics of FBS.
        box_storage_base: Storage a day, the first litre.
        box_storage_liter: Storage a day, each further litre.
        box_storage_coef_expr: Multiplier of storage.
    """

    warehouse_name: str
    geo_name: str | None = None
    box_delivery_base: str | None = None
    box_delivery_liter: str | None = None
    box_delivery_coef_expr: str | None = None
    box_delivery_marketplace_base: str | None = None
    box_delivery_marketplace_liter: str | None = None
    box_delivery_marketplace_coef_expr: str | None = None
    box_storage_base: str | None = None
    box_storage_liter: str | None = None
    box_storage_coef_expr: str | None = None
