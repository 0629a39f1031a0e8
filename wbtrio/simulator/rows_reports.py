"""Rows of Statistics, Analytics, Finance and reports. Pure: all follows from seller and key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .rows_goods import BRANDS, HOUR, SUBJECTS, article, price
from .shop import key_text

if TYPE_CHECKING:
    from .shelf import RowKey
    from .shop import Shop

Json = Any
"""A JSON value."""

_REGIONS = ("Московская", "Свердловская", "Татарстан", "Приморский", "Ленинградская")


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
        "subject": SUBJECTS[key.id % 5],
        "brand": BRANDS[key.id % 3],
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


def sale(shop: Shop, key: RowKey) -> Json:
    """A sale or a return in Statistics: the two share a `srid`, and differ in `saleID`."""
    order = ordered_item(shop, key)
    order["srid"] = f"11.r{key.id // 2:012x}.0.0"
    kept = {name: value for name, value in order.items() if name not in ("isCancel", "cancelDate")}
    return {
        **kept,
        "paymentSaleAmount": 0,
        "forPay": round(order["priceWithDisc"] * 0.83, 2),
        "saleID": f"{'R' if key.id % 2 else 'S'}{key.id}",
    }


def fed_order(shop: Shop, key: RowKey) -> Json:
    """An order of the order feed."""
    return {
        "srid": key_text("75134320", key) + ".1.0",
        "nmId": shop.nm_id(key.id),
        "chrtId": shop.nm_id(key.id) + 2,
        "status": ("created", "buyout", "cancel", "return")[key.id % 4],
        "cancelType": "app" if key.id % 4 == 2 else None,
        "createdAt": shop.moscow(key.moment - HOUR) + "+03:00",
        "updatedAt": shop.moscow(key.moment) + "+03:00",
        "sellerPrice": price(key),
        "destinationCity": "Санкт-Петербург",
        "destinationDistrict": "Северо-Западный",
        "warehouseName": "Склад WB",
        "warehouseRegion": "",
        "isB2b": False,
        "isMp": False,
    }


def funnel_product(shop: Shop, key: RowKey) -> Json:
    """A product in the sales funnel."""
    numbers = {
        "openCount": key.id % 500,
        "cartCount": key.id % 50,
        "orderCount": key.id % 20,
        "orderSum": key.id % 20 * price(key),
        "buyoutCount": key.id % 10,
        "buyoutSum": key.id % 10 * price(key),
        "cancelCount": key.id % 3,
        "cancelSum": key.id % 3 * price(key),
        "avgPrice": price(key),
    }
    return {
        "product": _product(shop, key),
        "statistic": {"selected": numbers, "past": numbers, "comparison": {}},
    }


def funnel_history(shop: Shop, key: RowKey) -> Json:
    """A product's funnel day by day."""
    day = {
        "date": shop.day(0),
        "openCount": key.id % 500,
        "cartCount": key.id % 50,
        "orderCount": key.id % 20,
        "orderSum": key.id % 20 * price(key),
        "buyoutCount": key.id % 10,
        "buyoutSum": key.id % 10 * price(key),
        "buyoutPercent": 50,
        "addToCartConversion": 10,
        "cartToOrderConversion": 40,
        "addToWishlistCount": key.id % 7,
    }
    return {"product": _product(shop, key), "history": [day], "currency": "RUB"}


def stock(shop: Shop, key: RowKey) -> Json:
    """What a warehouse has of a product."""
    return {
        "nmId": shop.nm_id(key.id),
        "chrtId": key.id,
        "warehouseId": 507,
        "warehouseName": "Коледино",
        "regionName": "Центральный",
        "quantity": key.id % 90,
        "inWayToClient": key.id % 9,
        "inWayFromClient": key.id % 4,
    }


def financial_line(shop: Shop, key: RowKey) -> Json:
    """A line of a sales report. Money is text, in roubles; ids need 64 bits."""
    full = price(key)
    return {
        "rrdId": key.id,
        "reportId": key.id // 1_000,
        "dateFrom": shop.day(key.moment - 144 * HOUR),
        "dateTo": shop.day(key.moment),
        "createDate": shop.day(key.moment),
        "currency": "RUB",
        "reportType": 1,
        "rrDate": shop.day(key.moment),
        "docTypeName": "Продажа",
        "sellerOperName": "Продажа",
        "nmId": shop.nm_id(key.id),
        "vendorCode": article(key),
        "brandName": BRANDS[key.id % 3],
        "subjectName": SUBJECTS[key.id % 5],
        "techSize": "0",
        "sku": f"20{key.id:011d}",
        "quantity": 1,
        "retailPrice": str(full),
        "retailAmount": f"{full * 0.7:.2f}",
        "retailPriceWithDisc": f"{full * 0.8:.2f}",
        "salePercent": 0,
        "commissionPercent": 24,
        "spp": 25.31,
        "forPay": f"{full * 0.6:.2f}",
        "deliveryService": "0",
        "penalty": "0",
        "paidStorage": "0",
        "deduction": "0",
        "officeName": "Склад WB",
        "orderDt": shop.zulu_seconds(key.moment - 72 * HOUR),
        "saleDt": shop.zulu_seconds(key.moment),
        "shkId": key.id + 3,
        "srid": key_text("0f1c39991726", key),
    }


def financial_report(shop: Shop, key: RowKey) -> Json:
    """One sales report of the list."""
    return {
        "reportId": key.id,
        "dateFrom": shop.day(key.moment - 144 * HOUR),
        "dateTo": shop.day(key.moment),
        "createDate": shop.day(key.moment),
        "currency": "RUB",
        "reportType": 1,
        "retailAmountSum": str(price(key) * 100),
        "forPaySum": str(price(key) * 60),
        "deliveryServiceSum": "0",
        "penaltySum": "0",
        "bankPaymentSum": str(price(key) * 60),
        "paymentSchedule": "-1",
    }


def deduction(shop: Shop, key: RowKey) -> Json:
    """A deduction for a mix-up."""
    return {
        "dtBonus": shop.zulu_seconds(key.moment),
        "nmId": shop.nm_id(key.id),
        "oldShkId": key.id,
        "oldSku": f"20{key.id:011d}",
        "newShkId": key.id + 1,
        "newSku": f"21{key.id:011d}",
        "bonusSumm": price(key) / 4,
        "bonusType": "Подмена FBW",
        "photoUrls": [],
    }


def returned_item(shop: Shop, key: RowKey) -> Json:
    """An item on its way back to the seller."""
    return {
        "barcode": f"20{key.id:011d}",
        "brand": BRANDS[key.id % 3],
        "nmId": shop.nm_id(key.id),
        "orderDt": shop.day(key.moment),
        "orderId": key.id,
        "returnType": "Возврат заблокированного товара",
        "shkId": key.id + 3,
        "srid": key_text("ad3817664d30", key),
        "status": "В пути в пвз",
        "stickerId": str(key.id),
        "subjectName": SUBJECTS[key.id % 5],
        "techSize": "0",
    }


def remains(shop: Shop, key: RowKey) -> Json:
    """What WB's warehouses have of a product."""
    return {
        "brand": BRANDS[key.id % 3],
        "subjectName": SUBJECTS[key.id % 5],
        "vendorCode": article(key),
        "nmId": shop.nm_id(key.id),
        "barcode": f"20{key.id:011d}",
        "techSize": "0",
        "volume": 1.33,
        "warehouses": [{"warehouseName": "Коледино", "quantity": 1 + key.id % 50}],
    }


def storage_charge(shop: Shop, key: RowKey) -> Json:
    """A day's charge for storing a product."""
    return {
        "date": shop.day(key.moment),
        "logWarehouseCoef": 1,
        "officeId": 507,
        "warehouse": "Коледино",
        "warehouseCoef": 1.7,
        "giId": key.id // 10,
        "chrtId": key.id,
        "size": "0",
        "barcode": f"20{key.id:011d}",
        "subject": SUBJECTS[key.id % 5],
        "brand": BRANDS[key.id % 3],
        "vendorCode": article(key),
        "nmId": shop.nm_id(key.id),
        "volume": 1.33,
        "calcType": "короба: без габаритов",
        "warehousePrice": 7.65,
        "barcodesCount": 1,
        "palletPlaceCode": 0,
        "palletCount": 0,
    }


def acceptance_charge(shop: Shop, key: RowKey) -> Json:
    """A charge for accepting a supply."""
    return {
        "count": 1 + key.id % 40,
        "giCreateDate": shop.day(key.moment - 24 * HOUR),
        "incomeId": key.id,
        "nmID": shop.nm_id(key.id),
        "shkCreateDate": shop.day(key.moment),
        "subjectName": SUBJECTS[key.id % 5],
        "total": 8.5,
    }


def csv_line(shop: Shop, key: RowKey) -> Json:
    """A line of a CSV report."""
    return {"nmID": shop.nm_id(key.id), "dt": shop.day(key.moment), "ordersCount": key.id % 9}


def _product(shop: Shop, key: RowKey) -> Json:
    return {
        "nmId": shop.nm_id(key.id),
        "title": f"Товар {key.id}",
        "vendorCode": article(key),
        "brandName": BRANDS[key.id % 3],
        "subjectId": 100 + key.id % 5,
        "subjectName": SUBJECTS[key.id % 5],
        "tags": [],
        "productRating": 9.1,
        "feedbackRating": 4.7,
        "stocks": {"wb": key.id % 50, "mp": 0, "balanceSum": key.id % 50 * price(key)},
    }
