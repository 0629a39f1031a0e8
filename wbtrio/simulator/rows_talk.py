"""Rows of Feedbacks, Chat, Returns, Documents and Promotion. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .pagers import is_answered
from .rows_goods import HOUR, article, price
from .shop import key_text

if TYPE_CHECKING:
    from .shelf import RowKey
    from .shop import Shop

Json = Any
"""A JSON value."""

RUNNING = (7, 9, 11)
"""States of campaigns that have statistics."""


def feedback(shop: Shop, key: RowKey) -> Json:
    """A buyer's opinion."""
    answer = {"text": "Спасибо за отзыв!", "state": "wbRu", "editable": False}
    return {
        "id": key_text("YX52RZEB", key),
        "text": "Всё подошло",
        "pros": "Удобный",
        "cons": "",
        "productValuation": 1 + key.id % 5,
        "createdDate": shop.zulu_seconds(key.moment),
        "answer": answer if is_answered(key) else None,
        "state": "wbRu",
        "productDetails": _details(shop, key),
        "video": None,
        "wasViewed": True,
        "photoLinks": None,
        "userName": "Николай",
        "orderStatus": "buyout",
        "matchingSize": "ok",
        "bables": None,
        "color": "",
        "subjectId": 219,
        "subjectName": "Футболки",
        "parentFeedbackId": None,
        "childFeedbackId": None,
    }


def question(shop: Shop, key: RowKey) -> Json:
    """A buyer's question."""
    return {
        "id": key_text("2ncBtX4B", key),
        "text": "Какой размер?",
        "createdDate": shop.zulu_seconds(key.moment),
        "state": "wbRu" if is_answered(key) else "suppliersPortalSynch",
        "answer": {"text": "M", "editable": False} if is_answered(key) else None,
        "productDetails": _details(shop, key),
        "wasViewed": False,
        "isWarned": False,
    }


def pin(shop: Shop, key: RowKey) -> Json:
    """A feedback that the seller pinned."""
    return {
        "pinId": key.id,
        "feedbackId": key_text("YX52RZEB", key),
        "nmId": shop.nm_id(key.id),
        "imtId": shop.nm_id(key.id) + 1,
        "pinMethod": "subscription",
        "pinOn": "imt",
        "state": "pinned",
        "changeStateAt": shop.zulu_seconds(key.moment),
        "unpinnedCause": "",
    }


def chat(shop: Shop, key: RowKey) -> Json:
    """A chat with a buyer."""
    return {
        "chatID": key_text("1:4019cd7d-cca8-4e90-8b11-", key),
        "replySign": key_text("1:", key),
        "clientID": str(key.id),
        "clientName": "Иван",
        "goodCard": None,
        "lastMessage": {"text": "Спасибо", "addTimestamp": shop.milliseconds(key.moment)},
    }


def chat_event(shop: Shop, key: RowKey) -> Json:
    """A message in any of the seller's chats."""
    return {
        "chatID": f"1:1e265a58-a120-b178-008c-{key.id // 5:012x}",
        "eventID": key_text("55adee45-11f0-33b6-a847-", key),
        "eventType": "message",
        "isNewChat": key.id % 5 == 0,
        "message": {"text": "Здравствуйте!"},
        "source": "rusite",
        "addTimestamp": shop.milliseconds(key.moment),
        "addTime": shop.zulu_seconds(key.moment),
        "replySign": key_text("1:", key),
        "sender": "client",
        "clientID": str(key.id // 5),
        "clientName": "Алёна",
    }


def claim(shop: Shop, key: RowKey) -> Json:
    """A buyer's claim to return an item; every other one is in the archive."""
    return {
        "id": key_text("fe3e9337-e9f9-423c-8930-", key),
        "claim_type": 1,
        "status": 0,
        "status_ex": 0,
        "nm_id": shop.nm_id(key.id),
        "user_comment": "Брак",
        "wb_comment": None,
        "dt": shop.moscow(key.moment),
        "imt_name": f"Товар {key.id}",
        "order_dt": shop.moscow(key.moment - 72 * HOUR),
        "dt_update": shop.moscow(key.moment),
        "photos": [],
        "video_paths": [],
        "actions": ["autorefund1"],
        "price": price(key),
        "currency_code": "643",
        "srid": key_text("v5o_7143225816503318733", key),
        "delivery_dt": shop.moscow(key.moment - 24 * HOUR),
    }


def document(shop: Shop, key: RowKey) -> Json:
    """A document for the seller's accountant."""
    return {
        "serviceName": f"redeem-notification-{key.id}",
        "name": "redeem-notification",
        "category": "Уведомление о выкупе",
        "extensions": ["zip"],
        "creationTime": shop.zulu(key.moment),
        "viewed": False,
    }


def promotion(shop: Shop, key: RowKey) -> Json:
    """A promotion in WB's calendar."""
    return {
        "id": key.id,
        "name": f"Акция {key.id}",
        "startDateTime": shop.zulu_seconds(key.moment),
        "endDateTime": shop.zulu_seconds(key.moment + 240 * HOUR),
        "type": "regular",
    }


def campaign_status(key: RowKey) -> int:
    """Paused, running, finished, or not yet begun."""
    return (*RUNNING, 4)[key.id % 4]


def campaign(shop: Shop, key: RowKey) -> Json:
    """An advertising campaign."""
    return {
        "id": key.id,
        "status": campaign_status(key),
        "bid_type": "manual",
        "nm_settings": [
            {
                "nm_id": shop.nm_id(key.id),
                "bids_kopecks": {"search": 15_000, "recommendations": 0},
                "subject": {"id": 52, "name": "Кошельки"},
            }
        ],
        "settings": {
            "name": f"Кампания {key.id}",
            "payment_type": "cpm",
            "placements": {"search": True, "recommendations": False},
        },
        "timestamps": {
            "created": shop.moscow(key.moment - 240 * HOUR) + "+03:00",
            "started": shop.moscow(key.moment - 239 * HOUR) + "+03:00",
            "updated": shop.moscow(key.moment) + "+03:00",
            "deleted": "2100-01-01T00:00:00+03:00",
        },
    }


def campaign_mention(shop: Shop, key: RowKey) -> Json:
    """A campaign in the list of all their ids."""
    return {"advertId": key.id, "changeTime": shop.moscow(key.moment) + "+03:00"}


def campaign_statistics(shop: Shop, key: RowKey) -> Json:
    """What a campaign brought, day by day."""
    numbers = {
        "views": key.id % 900,
        "clicks": key.id % 90,
        "ctr": 10.0,
        "cpc": 4.76,
        "sum": 661.25,
        "atbs": key.id % 9,
        "orders": key.id % 4,
        "cr": 1.0,
        "shks": key.id % 4,
        "sum_price": key.id % 4 * price(key),
        "canceled": 0,
    }
    return {
        "advertId": key.id,
        **numbers,
        "days": [{"date": f"{shop.day(key.moment)}T00:00:00Z", **numbers, "apps": []}],
        "boosterStats": [],
    }


def _details(shop: Shop, key: RowKey) -> Json:
    return {
        "imtId": shop.nm_id(key.id) + 1,
        "nmId": shop.nm_id(key.id),
        "productName": f"Товар {key.id}",
        "supplierArticle": article(key),
        "supplierName": "ИП Тест",
        "brandName": "Тест",
        "size": "0",
    }
