"""Small OpenAPI documents in the shapes that WB publishes, and a registry that agrees."""

from __future__ import annotations

import copy
from collections.abc import Mapping

REGISTRY = """\
[hosts.shop]
production = "shop-api.example"
sandbox = "shop-api-sandbox.example"

[defaults]
host = "shop"

[budgets.goods]
about = "all goods methods"
full = "10 / 6 s, burst 5"
basic = "4 / 1 h, burst 1"

# The list that everybody reads.
[operations."shop.goods.list"]
http = "GET /api/v2/goods"
budget = "goods"
error_cost = 10

[operations."shop.goods.update"]
http = "POST /api/v2/goods"
budget = "goods"
error_cost = 10

[operations."shop.orders.get"]
http = "GET /api/v1/orders/{orderId}"
limits.all = "300 / 1 min, burst 20"
kinds = ["personal", "service", "basic_secret", "basic"]

[operations."shop.pass.create"]
http = "POST /api/v3/passes"
limits.all = "1 / 10 min, burst 1"
"""

ROW = {"period": "6 s", "limit": "10 requests", "interval": "600 ms", "burst": "5 requests"}
BASE = {"period": "1 h", "limit": "4 requests", "interval": "15 min", "burst": "1 request"}
ROWS = [
    {"type": "Personal", **ROW},
    {"type": "Service", **ROW},
    {"type": "Base with secret", **ROW},
    {"type": "Base", **BASE},
]
GOODS = {
    "scope": "Request limit per one seller account for all methods in the Goods category:",
    "limits": ROWS,
    "note": "One request with 4XX response codes is counted as 10 requests.",
}
ORDERS = {
    "scope": "Request limit per one seller account:",
    "limits": [{"period": "1 min", "limit": "300 requests", "burst": "20 requests"}],
}
PASSES = {
    "scope": "Non-tabular limit from the official operation description",
    "raw": "Maximum of 1 request per 10 minutes per one seller account",
}


def document() -> dict[str, dict[str, dict[str, dict[str, object]]]]:
    """WB's English form: the limits in a block of their own. A new one each time, to be changed."""
    return {
        "paths": {
            "/api/v2/goods": {
                "get": _method(GOODS, reads=True, summary="Goods{{ /api/v2/goods }}"),
                "post": _method(GOODS, reads=False, summary="Change goods"),
            },
            "/api/v1/orders/{orderId}": {"get": _method(ORDERS, reads=True, summary="Order")},
            "/api/v3/passes": {"post": _method(PASSES, reads=False, summary="Create pass")},
        }
    }


def _method(limits: Mapping[str, object], *, reads: bool, summary: str) -> dict[str, object]:
    return {
        "summary": summary,
        "x-readonly-method": reads,
        "x-wb-rate-limits": copy.deepcopy(limits),
        "servers": [{"url": "https://shop-api.example"}],
    }


RUSSIAN = """\
openapi: 3.0.1
info:
  title: Товары
paths:
  /api/v2/goods:
    servers:
      - url: https://shop-api.example
    get:
      x-readonly-method: true
      summary: Товары
      description: |
        Метод возвращает товары.

        | Категория | Адрес |
        | --- | --- |
        | Товары | 5 |

        <div class="description_limit">
        <a href="/x">Лимит запросов</a> на один аккаунт продавца для <strong>Товары</strong>:

        | Тип | Период | Лимит | Интервал | Всплеск |
        | --- | --- | --- | --- | --- |
        | Персональный | 6 сек | 10 запросов | 600 мс | 5 запросов |
        | Сервисный | 6 сек | 10 запросов | 600 мс | 5 запросов |
        | Базовый с секретом | 6 сек | 10 запросов | 600 мс | 5 запросов |
        | Базовый | 1 ч | 4 запроса | 15 мин | 1 запрос |

        Один запрос с кодом ответа 4XX учитывается как 10 запросов
        </div>
    post:
      x-readonly-method: false
      summary: Изменить товары
      description: |
        <div class="description_limit">
        <a href="/x">Лимит запросов</a> на один аккаунт продавца для <strong>Товары</strong>:

        | Период | Лимит | Интервал | Всплеск |
        | --- | --- | --- | --- |
        | 1 минута | 2 запроса | 30 сек | 3 запроса |

        Один запрос с кодом ответа 409 учитывается как 10 запросов
        </div>
  /api/v3/passes:
    post:
      x-readonly-method: false
      servers:
        - url: https://shop-api.example
      description: |
        <div class="description_limit">
        Максимум 1 запрос в 10 <a href="/x">минут</a> на один аккаунт продавца
        </div>
"""
