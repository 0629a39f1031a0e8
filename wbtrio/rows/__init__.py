"""Types of the rows of WB's most imported lists, to pass as `type=`.

```python
async for card in seller.items("content.cards.list", type=rows.Card):
    ...
```

`ROWS` tells the type of an operation. Every field but the key may be None; money is a `Decimal`;
moments are WB's texts, which `moment` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from wbtrio.rows._base import MOSCOW, Row, decimal, moment
from wbtrio.rows.analytics import FeedOrder, FunnelProduct, StockItem, WbStock
from wbtrio.rows.communications import Claim, Feedback, Question
from wbtrio.rows.finance import SalesReport, SalesReportLine
from wbtrio.rows.items import Card, Goods
from wbtrio.rows.orders import FbsOrder, FbsSupply, FbwSupply, FbwSupplyGoods, SellerWarehouse
from wbtrio.rows.promotion import BoxTariff, Campaign, CampaignStatistics, Promotion
from wbtrio.rows.reports import PaidStorage, StatisticsOrder, StatisticsSale, WarehouseRemains

__all__ = [
    "MOSCOW",
    "ROWS",
    "BoxTariff",
    "Campaign",
    "CampaignStatistics",
    "Card",
    "Claim",
    "FbsOrder",
    "FbsSupply",
    "FbwSupply",
    "FbwSupplyGoods",
    "FeedOrder",
    "Feedback",
    "FunnelProduct",
    "Goods",
    "PaidStorage",
    "Promotion",
    "Question",
    "Row",
    "SalesReport",
    "SalesReportLine",
    "SellerWarehouse",
    "StatisticsOrder",
    "StatisticsSale",
    "StockItem",
    "WarehouseRemains",
    "WbStock",
    "decimal",
    "moment",
]

ROWS: Mapping[str, type[Row]] = MappingProxyType(
    {
        "analytics.funnel.list": FunnelProduct,
        "analytics.order_feed.list": FeedOrder,
        "analytics.stock_items.list": StockItem,
        "analytics.wb_stocks.list": WbStock,
        "calendar.promotions.list": Promotion,
        "content.cards.list": Card,
        "content.trash.list": Card,
        "fbs.orders.list": FbsOrder,
        "fbs.orders.new": FbsOrder,
        "fbs.supplies.list": FbsSupply,
        "fbw.supplies.list": FbwSupply,
        "fbw.supply_goods.list": FbwSupplyGoods,
        "feedbacks.archive.list": Feedback,
        "feedbacks.feedbacks.list": Feedback,
        "finance.sales_reports.details": SalesReportLine,
        "finance.sales_reports.list": SalesReport,
        "finance.sales_reports.report_details": SalesReportLine,
        "marketplace.warehouses.list": SellerWarehouse,
        "prices.goods.find": Goods,
        "prices.goods.list": Goods,
        "promotion.campaigns.list": Campaign,
        "promotion.stats.list": CampaignStatistics,
        "questions.questions.list": Question,
        "reports.paid_storage.download": PaidStorage,
        "reports.warehouse_remains.download": WarehouseRemains,
        "returns.claims.list": Claim,
        "statistics.orders.list": StatisticsOrder,
        "statistics.sales.list": StatisticsSale,
        "tariffs.box.list": BoxTariff,
    }
)
"""The type of each operation's rows."""
