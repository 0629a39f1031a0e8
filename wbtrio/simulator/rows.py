"""What a row of each resource says. Pure: everything follows from the seller and the row's key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .pagers import has_photo
from .shop import key_text

if TYPE_CHECKING:
    from .shelf import RowKey
    from .shop import Shop

Json = Any
"""A JSON value."""

HOUR = 3_600_000_000
_SUBJECTS = ("Футболки", "Кроссовки", "Кружки", "Пледы", "Рюкзаки")
_REGIONS = ("Московская", "Свердловская", "Татарстан", "Приморский", "Ленинградская")
_BRANDS = ("Север", "Тест", "Лотос")


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
        "subjectName": _SUBJECTS[key.id % 5],
        "vendorCode": article(key),
        "brand": _BRANDS[key.id % 3],
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


def ordered_item(shop: Shop, key: RowKey) -> Json:
    """An ordered item in Statistics; times are Moscow's.

    A third of them was ordered long before its last change (field case WB-024).
    """
    full, discount = price(key), key.id % 40
    reduced = full * (100 - discount) // 100
    cancelled = key.id % 9 == 0
    age = 24 * HOUR * (key.id % 17) if key.id % 3 == 0 else HOUR
    return {
        "date": shop.moscow(key.moment - age),
        "lastChangeDate": shop.moscow(key.moment),
        "warehouseName": "Подольск",
        "warehouseType": "Склад WB",
        "countryName": "Россия",
        "oblastOkrugName": "Центральный федеральный округ",
        "regionName": _REGIONS[key.id % 5],
        "supplierArticle": article(key),
        "nmId": shop.nm_id(key.id),
        "barcode": f"20{key.id:011d}",
        "category": "Одежда",
        "subject": _SUBJECTS[key.id % 5],
        "brand": _BRANDS[key.id % 3],
        "techSize": "0",
        "incomeID": 0,
        "isSupply": False,
        "isRealization": True,
        "totalPrice": full,
        "discountPercent": discount,
        "spp": 20,
        "finishedPrice": reduced * 0.8,
        "priceWithDisc": reduced,
        "isCancel": cancelled,
        "cancelDate": shop.moscow(key.moment) if cancelled else "0001-01-01T00:00:00",
        "sticker": "",
        "gNumber": f"9{key.id // 3:019d}",
        "srid": key_text("11.r", key) + ".0.0",
    }
