"""Rows of Content, Prices and Marketplace. Pure: all follows from the seller and the row's key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cursors import batch_id, has_photo
from .shop import key_text

if TYPE_CHECKING:
    from .shelf import RowKey
    from .shop import Shop

Json = Any
"""A JSON value."""

HOUR = 3_600_000_000
SUBJECTS = ("Футболки", "Кроссовки", "Кружки", "Пледы", "Рюкзаки")
BRANDS = ("Север", "Тест", "Лотос")


def article(key: RowKey) -> str:
    """A seller's own number of a product."""
    return f"wb{key.id:x}"


def price(key: RowKey) -> int:
    """Roubles."""
    return 300 + key.id * 7 % 4_700


def card(shop: Shop, key: RowKey) -> Json:
    """A product card. `updatedAt` may be null (field case WB-042)."""
    photo = f"https://basket-10.wbbasket.ru/vol1/part1/{key.id}/images"
    return {
        "nmID": key.id,
        "imtID": key.id + 1,
        "nmUUID": key_text("01bda0b1-5c0b-736c-b2be-", key),
        "subjectID": 100 + key.id % 5,
        "subjectName": SUBJECTS[key.id % 5],
        "vendorCode": article(key),
        "brand": BRANDS[key.id % 3],
        "title": f"Товар {key.id}",
        "description": "Описание товара",
        "needKiz": False,
        "photos": [{"big": f"{photo}/big/1.webp", "tm": f"{photo}/tm/1.webp"}]
        if has_photo(key)
        else [],
        "dimensions": {
            "length": 55,
            "width": 40,
            "height": 15,
            "weightBrutto": 6.24,
            "isValid": True,
        },
        "characteristics": [{"id": 14177449, "name": "Цвет", "value": ["синий"]}],
        "sizes": [{"chrtID": key.id + 2, "techSize": "0", "skus": [f"20{key.id:011d}"]}],
        "createdAt": shop.zulu(key.moment - 240 * HOUR),
        "updatedAt": None if key.id % 10 == 3 else shop.zulu(key.moment),
    }


def goods_price(_shop: Shop, key: RowKey) -> Json:
    """Prices and discounts of a product, in roubles."""
    full, discount = price(key), key.id % 40
    reduced = full * (100 - discount) / 100
    return {
        "nmID": key.id,
        "vendorCode": article(key),
        "sizes": [
            {
                "sizeID": key.id + 2,
                "price": full,
                "discountedPrice": reduced,
                "clubDiscountedPrice": round(reduced * 0.95, 2),
                "techSizeName": "0",
            }
        ],
        "currencyIsoCode4217": "RUB",
        "discount": discount,
        "clubDiscount": 5,
        "editableSizePrice": False,
        "isBadTurnover": key.id % 11 == 0,
    }


def assembly_order(shop: Shop, key: RowKey) -> Json:
    """An FBS order (assembly task); prices in kopecks."""
    return {
        "address": None,
        "scanPrice": None,
        "deliveryType": "fbs",
        "supplyId": f"WB-GI-{key.id // 10}",
        "orderUid": key_text("165918930_", key),
        "article": article(key),
        "colorCode": "",
        "rid": key_text("f884001e44e5", key),
        "createdAt": shop.zulu_seconds(key.moment),
        "offices": ["Калуга"],
        "skus": [f"20{key.id:011d}"],
        "id": key.id,
        "warehouseId": 658434,
        "officeId": 123,
        "nmId": shop.nm_id(key.id),
        "chrtId": shop.nm_id(key.id) + 2,
        "price": price(key) * 100,
        "convertedPrice": price(key) * 100,
        "currencyCode": 643,
        "convertedCurrencyCode": 643,
        "cargoType": 1,
        "crossBorderType": None,
        "comment": "",
        "isZeroOrder": False,
        "options": {"isB2b": False},
    }


def trashed_card(shop: Shop, key: RowKey) -> Json:
    """A card in the trash."""
    kept = ("nmID", "vendorCode", "subjectID", "subjectName", "photos", "sizes", "dimensions")
    whole = card(shop, key)
    return {
        **{name: whole[name] for name in kept},
        "createdAt": whole["createdAt"],
        "trashedAt": shop.zulu(key.moment),
    }


def card_error(_shop: Shop, key: RowKey) -> Json:
    """A batch of cards that WB did not create."""
    code = article(key)
    return {
        "batchUUID": batch_id(key),
        "subjects": {code: {"id": 100 + key.id % 5, "name": SUBJECTS[key.id % 5]}},
        "brands": {code: {"id": key.id % 3, "name": BRANDS[key.id % 3]}},
        "vendorCodes": [code],
        "errors": {code: ["Поле Наименование не должно содержать запрещенные символы"]},
    }


def recommendation(shop: Shop, key: RowKey) -> Json:
    """Products that a product's card recommends."""
    return {"nmId": key.id, "recommendedNmIds": [shop.nm_id(key.id)]}


def quarantined_price(_shop: Shop, key: RowKey) -> Json:
    """A price that fell too far to be shown."""
    return {
        "nmID": key.id,
        "sizeID": None,
        "techSizeName": "",
        "currencyIsoCode4217": "RUB",
        "newPrice": price(key) / 3,
        "oldPrice": price(key),
        "newDiscount": 25,
        "oldDiscount": 25,
        "priceDiff": -price(key) / 2,
    }


def archived_order(shop: Shop, key: RowKey) -> Json:
    """An FBS order in the archive, nested where the live one is flat."""
    flat = assembly_order(shop, key)
    kept = ("id", "rid", "orderUid", "createdAt", "warehouseId", "supplyId", "colorCode")
    return {
        **{name: flat[name] for name in kept},
        "cargoType": "mgt",
        "scanPrice": None,
        "stickerId": key.id,
        "isZeroOrder": False,
        "metaDetails": {},
        "options": {"isB2B": False},
        "priceInfo": {
            "price": flat["price"],
            "convertedPrice": flat["convertedPrice"],
            "currencyCode": 643,
            "convertedCurrencyCode": 643,
        },
        "product": {
            "article": flat["article"],
            "nmId": flat["nmId"],
            "chrtId": flat["chrtId"],
            "skus": flat["skus"],
        },
        "status": {"supplierStatus": "complete", "wbStatus": "sold"},
    }


def delivered_order(shop: Shop, key: RowKey) -> Json:
    """A finished order of DBS, DBW or pick-up in the shop."""
    return {
        **assembly_order(shop, key),
        "groupId": key_text("7a2c8810-1db2-4011-9682-", key),
        "finalPrice": price(key) * 100,
        "convertedFinalPrice": price(key) * 100,
        "orderCode": f"{key.id}-0006",
        "payMode": "prepaid",
        "warehouseAddress": "Москва",
    }


def fbs_supply(shop: Shop, key: RowKey) -> Json:
    """A supply of FBS orders."""
    done = key.id % 4 != 0
    return {
        "id": f"WB-GI-{key.id}",
        "isB2b": False,
        "done": done,
        "createdAt": shop.zulu_seconds(key.moment),
        "closedAt": shop.zulu_seconds(key.moment + HOUR) if done else None,
        "scanDt": shop.zulu_seconds(key.moment + 2 * HOUR) if done else None,
        "name": f"Поставка {key.id}",
        "cargoType": 1,
        "crossBorderType": None,
        "destinationOfficeId": 123,
    }


def fbw_supply(shop: Shop, key: RowKey) -> Json:
    """A supply to WB's warehouse; one that is not planned has no number (field case WB-039)."""
    planned = key.id % 4 != 0
    return {
        "phone": "+7 916 *** 44 44",
        "supplyID": key.id if planned else None,
        "preorderID": key.id + 1_000_000,
        "createDate": shop.moscow(key.moment) + "+03:00",
        "supplyDate": shop.moscow(key.moment + 48 * HOUR) + "+03:00" if planned else None,
        "factDate": None,
        "updatedDate": shop.moscow(key.moment) + "+03:00",
        "statusID": 2 if planned else 1,
    }


def fbw_supply_item(shop: Shop, key: RowKey) -> Json:
    """One product of such a supply."""
    return {
        "barcode": f"20{key.id:011d}",
        "vendorCode": article(key),
        "nmID": shop.nm_id(key.id),
        "needKiz": False,
        "tnved": None,
        "techSize": "0",
        "color": None,
        "supplierBoxAmount": None,
        "quantity": 1 + key.id % 20,
        "readyForSaleQuantity": key.id % 20,
        "acceptedQuantity": 1 + key.id % 20,
        "unloadingQuantity": 0,
    }


def seller_warehouse(_shop: Shop, key: RowKey) -> Json:
    """A warehouse of the seller's."""
    return {
        "name": f"Склад {key.id}",
        "officeId": 15,
        "id": key.id,
        "cargoType": 1,
        "deliveryType": 1,
        "isDeleting": False,
        "isProcessing": False,
    }
