"""One page of each operation that has typed rows, every field of the row filled in.

Shapes as in WB's documents of August 2026 (March 2026 where those are cut short); values made up.
"""

from __future__ import annotations

from typing import Any

ENVELOPE: dict[str, Any] = {"error": False, "errorText": "", "additionalErrors": None}

CARD: dict[str, Any] = {
    "nmID": 226604910,
    "imtID": 201550117,
    "nmUUID": "018f5a70-0b1c-7e31-9c55-1e0f7f1a2b3c",
    "subjectID": 105,
    "subjectName": "Кроссовки",
    "vendorCode": "run-42/белый",
    "brand": "Бегун",
    "title": "Кроссовки для бега",
    "description": "Лёгкие кроссовки",
    "needKiz": True,
    "photos": [
        {
            "big": "https://basket-10.wbbasket.ru/1/big/1.webp",
            "c246x328": "https://basket-10.wbbasket.ru/1/c246x328/1.webp",
            "c516x688": "https://basket-10.wbbasket.ru/1/c516x688/1.webp",
            "square": "https://basket-10.wbbasket.ru/1/square/1.webp",
            "tm": "https://basket-10.wbbasket.ru/1/tm/1.webp",
        }
    ],
    "video": "https://videonme-basket-12.wbbasket.ru/1/index.m3u8",
    "wholesale": {"enabled": True, "quantum": 12},
    "dimensions": {
        "length": 34,
        "width": 22,
        "height": 12.5,
        "weightBrutto": 0.855,
        "isValid": True,
    },
    "characteristics": [
        {"id": 14177449, "name": "Цвет", "value": ["белый", "серый"]},
        {"id": 88952, "name": "Вес товара без упаковки (г)", "value": 640},
    ],
    "sizes": [
        {"chrtID": 316399238, "techSize": "42", "wbSize": "42", "skus": ["2037031652319"]},
        {"chrtID": 316399239, "techSize": "43", "wbSize": "43", "skus": []},
    ],
    "tags": [{"id": 592569, "name": "Лето", "color": "FEE0E0"}],
    "createdAt": "2025-12-06T11:17:00.96577Z",
    "updatedAt": "2026-03-06T11:17:00.96577Z",
}
GOODS: dict[str, Any] = {
    "nmID": 98486,
    "vendorCode": "07326060",
    "sizes": [
        {
            "sizeID": 3123515574,
            "price": 500,
            "discountedPrice": 350.1,
            "clubDiscountedPrice": 332.5,
            "techSizeName": "42",
        }
    ],
    "currencyIsoCode4217": "RUB",
    "discount": 30,
    "clubDiscount": 5,
    "editableSizePrice": True,
    "isBadTurnover": False,
}
FBS_ORDER: dict[str, Any] = {
    "id": 13833711,
    "rid": "f884001e44e511edb8780242ac120002",
    "orderUid": "165918930_629fbc924b984618a44354475ca58675",
    "createdAt": "2026-05-04T07:56:29Z",
    "article": "one-ring-7548",
    "nmId": 12345678,
    "chrtId": 987654321,
    "skus": ["6665956397512"],
    "colorCode": "RAL 3017",
    "price": 101400,
    "convertedPrice": 2832200,
    "scanPrice": 150000,
    "currencyCode": 933,
    "convertedCurrencyCode": 643,
    "warehouseId": 658434,
    "officeId": 123,
    "offices": ["Калуга"],
    "supplyId": "WB-GI-92937123",
    "deliveryType": "fbs",
    "cargoType": 1,
    "crossBorderType": 1,
    "comment": "Упакуйте в плёнку, пожалуйста",
    "isZeroOrder": False,
    "address": {
        "fullAddress": "Челябинск, 51-я улица Арабкира, д. 1",
        "longitude": 61.519068,
        "latitude": 55.20192,
    },
    "options": {"isB2b": True},
}
STATISTICS: dict[str, Any] = {
    "srid": "11.rf9ef11fce1684117b0nhj96222982382.3.0",
    "date": "2026-08-04T18:08:31",
    "lastChangeDate": "2026-08-28T10:11:07",
    "warehouseName": "Подольск",
    "warehouseType": "Склад продавца",
    "countryName": "Россия",
    "oblastOkrugName": "Центральный федеральный округ",
    "regionName": "Московская",
    "supplierArticle": "12345",
    "nmId": 1234567,
    "barcode": "123453559000",
    "category": "Бытовая техника",
    "subject": "Мультистайлеры",
    "brand": "Тест",
    "techSize": "0",
    "incomeID": 56735459,
    "isSupply": False,
    "isRealization": True,
    "totalPrice": 1887,
    "discountPercent": 18,
    "spp": 26.5,
    "finishedPrice": 1145.3,
    "priceWithDisc": 1547.34,
    "sticker": "926912515",
    "gNumber": "34343462218572569531",
}
PRODUCT = {
    "imtId": 11157265,
    "nmId": 14917842,
    "productName": "Кофе",
    "supplierArticle": "123401",
    "supplierName": "ООО Пример",
    "brandName": "Зерно",
}
FEEDBACK: dict[str, Any] = {
    "id": "YX52RZEBhH9mrcYdEJuD",
    "text": "Спасибо, всё подошло",
    "pros": "Удобный",
    "cons": "Нет",
    "productValuation": 5,
    "createdDate": "2026-09-26T10:20:48+03:00",
    "answer": {"text": "Ждём вас снова!", "state": "wbRu", "editable": False},
    "state": "wbRu",
    "productDetails": PRODUCT | {"size": "0"},
    "photoLinks": [{"fullSize": "https://x.wbbasket.ru/fs.jpg", "miniSize": "https://x/ms.jpg"}],
    "video": {"previewImage": "https://x/p.webp", "link": "https://x/i.m3u8", "durationSec": 10},
    "wasViewed": True,
    "userName": "Николай",
    "orderStatus": "buyout",
    "matchingSize": "ok",
    "bables": ["цена"],
    "lastOrderShkId": 123456789,
    "lastOrderCreatedAt": "2026-08-12T10:20:48+03:00",
    "color": "colorless",
    "subjectId": 219,
    "subjectName": "Футболки-поло",
    "parentFeedbackId": "aIjTCZDvJni7NGnLbUlf",
    "childFeedbackId": "bIjTCZDvJni7NGnLbUlf",
    "isAbleReturnProductOrders": False,
    "returnProductOrdersDate": "2026-08-20T16:39:49Z",
}
FUNNEL: dict[str, Any] = {
    "period": {"start": "2026-06-01", "end": "2026-06-30"},
    "openCount": 45,
    "cartCount": 34,
    "orderCount": 19,
    "orderSum": 1262,
    "buyoutCount": 18,
    "buyoutSum": 1200.5,
    "cancelCount": 1,
    "cancelSum": 62,
    "avgPrice": 66.4,
    "avgOrdersCountPerDay": 0.04,
    "shareOrderPercent": 3,
    "addToWishlist": 455,
    "localizationPercent": 100,
    "conversions": {"addToCartPercent": 19, "cartToOrderPercent": 65, "buyoutPercent": 43.2},
}
REPORT_LINE: dict[str, Any] = {
    "rrdId": 4_232_610_467_123,
    "reportId": 1234567,
    "dateFrom": "2026-03-16",
    "dateTo": "2026-03-22",
    "createDate": "2026-03-23",
    "currency": "RUB",
    "reportType": 1,
    "giId": 123456,
    "dlvPrc": 1.8,
    "fixTariffDateFrom": "2026-03-18",
    "fixTariffDateTo": "2026-03-19",
    "subjectName": "Мини-печи",
    "nmId": 1234567,
    "brandName": "Печь",
    "vendorCode": "MAB123",
    "title": "Печь",
    "techSize": "0",
    "sku": "1231312352310",
    "docTypeName": "Продажа",
    "quantity": 1,
    "retailPrice": "1249",
    "retailAmount": "367",
    "salePercent": 0,
    "commissionPercent": 24,
    "officeName": "Склад WB",
    "sellerOperName": "Продажа",
    "orderDt": "2026-03-14T00:00:00Z",
    "saleDt": "2026-03-21T00:00:00Z",
    "rrDate": "2026-03-21",
    "shkId": 1239159661,
    "retailPriceWithDisc": "399.68",
    "deliveryAmount": 0,
    "returnAmount": 0,
    "deliveryService": "0",
    "giBoxTypeName": "Монопаллета",
    "productDiscountForReport": 0,
    "sellerPromo": "0",
    "spp": 25.31,
    "kvwBase": 24.15,
    "kvw": 1.81,
    "supRatingUp": 0,
    "isKgvpV2": 0,
    "ppvzSalesCommission": "23.74",
    "forPay": "376.99",
    "ppvzReward": "0",
    "acquiringFee": "14.89",
    "acquiringPercent": 4.06,
    "paymentProcessing": "Комиссия за организацию платежа с НДС",
    "acquiringBank": "Банк",
    "vw": "22.25",
    "vwNds": "4.45",
    "ppvzOfficeName": "Москва, Очаковское шоссе 6к2",
    "ppvzOfficeId": 105383,
    "ppvzSupplierName": "ИП Пример",
    "ppvzSupplierInn": "010101010101",
    "declarationNumber": "",
    "stickerId": "1964038895",
    "country": "Россия",
    "srvDbs": True,
    "penalty": "231.35",
    "additionalPayment": "-0.5",
    "rebillLogisticCost": "1.349",
    "rebillLogisticOrg": "ИП Перевозчик",
    "paidStorage": "12647.29",
    "deduction": "6354",
    "paidAcceptance": "865",
    "orderId": 2816993144,
    "isB2b": False,
    "trbxId": "WB-TRBX-1234567",
    "installmentCofinancingAmount": "0",
    "wibesDiscountPercent": 1,
    "cashbackAmount": "2",
    "cashbackDiscount": "19",
    "cashbackCommissionChange": "0.2",
    "paymentSchedule": "-1",
    "deliveryMethod": "FBS, (МГТ)",
    "sellerPromoId": 14350,
    "sellerPromoDiscount": 3,
    "loyaltyId": 0,
    "loyaltyDiscount": 0,
    "uuidPromocode": "",
    "salePricePromocodeDiscountPrc": 0,
    "articleSubstitution": "",
    "salePriceAffiliatedDiscountPrc": 0,
    "salePriceWholesaleDiscountPrc": 0,
    "b2bCustomerTin": "010101010101",
    "paidWithSocialCertificate": False,
    "warehouseLogisticsCoeff": 0,
    "orderUid": "id375f16c4bec295d9995393af803ff7b",
    "srid": "0f1c3999172603062979867564654dac5b702849",
    "bonusTypeName": "Штраф МП",
    "agencyVat": 0,
    "kiz": "0102900000376311210G2CIS?ehge)S\x1d91002A",
}
AD_FIGURES: dict[str, Any] = {
    "views": 784,
    "clicks": 75,
    "ctr": 9.57,
    "cpc": 5.05,
    "cr": 0,
    "atbs": 2,
    "orders": 1,
    "shks": 1,
    "canceled": 0,
    "sum": 378.49,
    "sum_price": 1290.1,
}

PAGES: dict[str, Any] = {
    "analytics.funnel.list": {
        "data": {
            "products": [
                {
                    "product": {
                        "nmId": 268913787,
                        "title": "Кроссовки для бега",
                        "vendorCode": "12345456",
                        "brandName": "Бегун",
                        "subjectId": 105,
                        "subjectName": "Кроссовки",
                        "productRating": 4.5,
                        "feedbackRating": 4,
                        "stocks": {"wb": 1, "mp": 2, "balanceSum": 3},
                    },
                    "statistic": {"selected": FUNNEL, "past": FUNNEL},
                }
            ],
            "currency": "RUB",
        }
    },
    "analytics.order_feed.list": {
        "data": {
            "snapshotTime": "2026-07-03T15:04:05Z",
            "orders": [
                {
                    "srid": "7513432034713632943.1.0",
                    "nmId": 47254354,
                    "chrtId": 91663228,
                    "createdAt": "2026-06-24T12:57:26+03:00",
                    "updatedAt": "2026-06-26T19:19:38+03:00",
                    "status": "cancel",
                    "cancelType": "app",
                    "warehouseName": "Склад WB",
                    "warehouseRegion": "",
                    "isMp": True,
                    "destinationCity": "Санкт-Петербург",
                    "destinationDistrict": "Северо-Западный",
                    "sellerPrice": 4328.5,
                    "isB2b": False,
                }
            ],
            "currency": "RUB",
        }
    },
    "analytics.stock_items.list": {
        "data": {
            "items": [
                {
                    "nmID": 123456789,
                    "isDeleted": False,
                    "subjectName": "Принтеры",
                    "name": "Печатник 3000",
                    "vendorCode": "pechatnik3000",
                    "brandName": "Компик",
                    "mainPhoto": "https://basket-12.wbbasket.ru/1/tm/1.webp",
                    "hasSizes": True,
                    "metrics": {
                        "ordersCount": 100,
                        "ordersSum": 100000,
                        "avgOrders": 200,
                        "buyoutCount": 150,
                        "buyoutSum": 150000,
                        "buyoutPercent": 5,
                        "stockCount": 50,
                        "stockSum": 50000,
                        "saleRate": {"days": 5, "hours": 15},
                        "avgStockTurnover": {"days": 0, "hours": -1},
                        "toClientCount": 20,
                        "fromClientCount": 30,
                        "officeMissingTime": {"days": 0, "hours": -4},
                        "lostOrdersCount": 1550.52,
                        "lostOrdersSum": 155000.25,
                        "lostBuyoutsCount": -2,
                        "lostBuyoutsSum": 225555.15,
                        "currentPrice": {"minPrice": 50, "maxPrice": 100},
                        "availability": "deficient",
                    },
                }
            ],
            "currency": "RUB",
        }
    },
    "analytics.wb_stocks.list": {
        "data": {
            "items": [
                {
                    "nmId": 47254354,
                    "chrtId": 91663228,
                    "warehouseId": -999999,
                    "warehouseName": "Склад WB",
                    "regionName": "Склад WB",
                    "quantity": 43,
                    "inWayToClient": 14,
                    "inWayFromClient": 11,
                }
            ]
        }
    },
    "calendar.promotions.list": {
        "data": {
            "promotions": [
                {
                    "id": 123,
                    "name": "скидки",
                    "startDateTime": "2026-06-05T21:00:00Z",
                    "endDateTime": "2026-06-12T21:00:00Z",
                    "type": "auto",
                }
            ]
        }
    },
    "content.cards.list": {
        "cards": [CARD],
        "cursor": {"updatedAt": "2026-03-06T11:17:00.96577Z", "nmID": 226604910, "total": 1},
    },
    "content.trash.list": {
        "cards": [CARD | {"trashedAt": "2026-04-06T11:17:00.96577Z"}],
        "cursor": {"trashedAt": "2026-04-06T11:17:00.96577Z", "nmID": 226604910, "total": 1},
    },
    "fbs.orders.list": {"next": 13833711, "orders": [FBS_ORDER]},
    "fbs.orders.new": {"orders": [FBS_ORDER]},
    "fbs.supplies.list": {
        "next": 13833711,
        "supplies": [
            {
                "id": "WB-GI-1234567",
                "name": "Тестовая поставка",
                "done": True,
                "isB2b": False,
                "createdAt": "2026-05-04T07:56:29Z",
                "closedAt": "2026-05-04T07:56:29Z",
                "scanDt": "2026-05-04T07:56:29Z",
                "cargoType": 0,
                "crossBorderType": 1,
                "destinationOfficeId": 123,
            }
        ],
    },
    "fbw.supplies.list": [
        {
            "supplyID": 26596368,
            "preorderID": 34601223,
            "phone": "+7 916 *** 33 33",
            "createDate": "2026-08-29T16:57:59+03:00",
            "supplyDate": "2026-08-30T00:00:00+03:00",
            "factDate": "2026-08-30T12:24:14+03:00",
            "updatedDate": "2026-08-30T18:33:45+03:00",
            "statusID": 6,
        }
    ],
    "fbw.supply_goods.list": [
        {
            "barcode": "2037031652319",
            "vendorCode": "run-42",
            "nmID": 226604910,
            "needKiz": True,
            "tnved": "6404110000",
            "techSize": "42",
            "color": "белый",
            "supplierBoxAmount": 10,
            "quantity": 9,
            "readyForSaleQuantity": 8,
            "acceptedQuantity": 7,
            "unloadingQuantity": 0,
        }
    ],
    "feedbacks.archive.list": ENVELOPE | {"data": {"feedbacks": [FEEDBACK]}},
    "feedbacks.feedbacks.list": ENVELOPE
    | {"data": {"countUnanswered": 52, "countArchive": 1000, "feedbacks": [FEEDBACK]}},
    "finance.sales_reports.details": [REPORT_LINE],
    "finance.sales_reports.list": [
        {
            "reportId": 307401554,
            "sellerFinanceName": "ИП Пример",
            "dateFrom": "2026-03-16",
            "dateTo": "2026-03-22",
            "createDate": "2026-03-23",
            "currency": "RUB",
            "reportType": 1,
            "retailAmountSum": "258",
            "forPaySum": "183.79",
            "avgSalePercent": 0,
            "deliveryServiceSum": "2558.47",
            "paidStorageSum": "626.84",
            "paidAcceptanceSum": "243.81",
            "deductionSum": "150",
            "penaltySum": "1457.61",
            "additionalPaymentSum": "9509.71",
            "cashbackAmountSum": "2",
            "cashbackDiscountSum": "19",
            "cashbackCommissionChangeSum": "0.2",
            "paymentSchedule": "-1",
            "bankPaymentSum": "5172.94",
        }
    ],
    "finance.sales_reports.report_details": [REPORT_LINE],
    "marketplace.warehouses.list": [
        {
            "id": 1,
            "name": "ул. Троицкая, Подольск",
            "officeId": 15,
            "cargoType": 1,
            "deliveryType": 1,
            "isDeleting": False,
            "isProcessing": True,
        }
    ],
    "prices.goods.find": ENVELOPE | {"data": {"listGoods": [GOODS]}},
    "prices.goods.list": ENVELOPE | {"data": {"listGoods": [GOODS]}},
    "promotion.campaigns.list": {
        "adverts": [
            {
                "id": 28150154,
                "status": 11,
                "bid_type": "manual",
                "settings": {
                    "name": "Кампания",
                    "payment_type": "cpc",
                    "placements": {"search": True, "recommendations": False},
                },
                "nm_settings": [
                    {
                        "nm_id": 5764746785,
                        "bids_kopecks": {"search": 1100, "recommendations": 0},
                        "subject": {"id": 69, "name": "платья"},
                    }
                ],
                "timestamps": {
                    "created": "2025-08-28T09:50:57.611559+03:00",
                    "updated": "2025-09-10T10:14:58.475499+03:00",
                    "started": "2025-08-29T10:14:58.475499+03:00",
                    "deleted": "2100-01-01T00:00:00+03:00",
                },
            }
        ]
    },
    "promotion.stats.list": [
        AD_FIGURES | {"advertId": 22161678, "days": [AD_FIGURES | {"date": "2026-09-07T00:00:00Z"}]}
    ],
    "questions.questions.list": ENVELOPE
    | {
        "data": {
            "questions": [
                {
                    "id": "2ncBtX4B9I0UHoornoqG",
                    "text": "Есть ли размер 44?",
                    "createdDate": "2026-02-01T11:18:08.769513469Z",
                    "state": "wbRu",
                    "answer": {
                        "text": "Да",
                        "editable": True,
                        "createDate": "2026-02-02T11:18:08.7Z",
                    },
                    "productDetails": PRODUCT,
                    "wasViewed": False,
                    "isWarned": False,
                }
            ]
        }
    },
    "reports.paid_storage.download": [
        {
            "date": "2026-10-01",
            "logWarehouseCoef": 1,
            "officeId": 507,
            "warehouse": "Коледино",
            "warehouseCoef": 1.7,
            "giId": 123456,
            "chrtId": 1234567,
            "size": "0",
            "barcode": "2037031652319",
            "subject": "Маски одноразовые",
            "brand": "1000 Каталог",
            "vendorCode": "567383",
            "nmId": 1234567,
            "volume": 12,
            "calcType": "короба: без габаритов",
            "warehousePrice": 7.65,
            "barcodesCount": 1,
            "palletPlaceCode": 0,
            "palletCount": 0.5,
            "originalDate": "2026-09-01",
            "loyaltyDiscount": 10.1,
            "tariffFixDate": "2026-10-01",
            "tariffLowerDate": "2026-11-01",
        }
    ],
    "reports.warehouse_remains.download": [
        {
            "brand": "Альбом",
            "subjectName": "Фотоальбомы",
            "vendorCode": "41058/прозрачный",
            "nmId": 183804172,
            "barcode": "2037031652319",
            "techSize": "0",
            "volume": 1.33,
            "warehouses": [
                {"warehouseName": "В пути до получателей", "quantity": 14},
                {"warehouseName": "Коледино", "quantity": 133},
            ],
        }
    ],
    "returns.claims.list": {
        "claims": [
            {
                "id": "fe3e9337-e9f9-423c-8930-946a8ebef80d",
                "claim_type": 1,
                "status": 2,
                "status_ex": 8,
                "nm_id": 196320101,
                "user_comment": "Длина не соответствует",
                "wb_comment": "Продавец одобрил вашу заявку",
                "dt": "2026-03-26T17:06:12.245611",
                "imt_name": "Кабель 0.5 м",
                "order_dt": "2025-10-27T05:18:56",
                "dt_update": "2026-05-10T18:01:06.999613",
                "delivery_dt": "2025-10-29T05:18:56",
                "photos": ["//photos.wbstatic.net/claim/1.webp"],
                "video_paths": ["//video.wbstatic.net/claim/1.mp4"],
                "actions": ["autorefund1"],
                "price": 157.5,
                "currency_code": "643",
                "srid": "v5o_7143225816503318733.0.0",
                "origin_id_info": "match",
            }
        ],
        "total": 31,
    },
    "statistics.orders.list": [
        STATISTICS | {"isCancel": True, "cancelDate": "2026-08-09T00:00:00"}
    ],
    "statistics.sales.list": [
        STATISTICS | {"saleID": "S9993700024", "paymentSaleAmount": 93, "forPay": 1284.01}
    ],
    "tariffs.box.list": {
        "response": {
            "data": {
                "dtNextBox": "2026-02-01",
                "dtTillMax": "2026-03-31",
                "warehouseList": [
                    {
                        "warehouseName": "Коледино",
                        "geoName": "Центральный федеральный округ",
                        "boxDeliveryBase": "48",
                        "boxDeliveryLiter": "11,2",
                        "boxDeliveryCoefExpr": "160",
                        "boxDeliveryMarketplaceBase": "40",
                        "boxDeliveryMarketplaceLiter": "11",
                        "boxDeliveryMarketplaceCoefExpr": "125",
                        "boxStorageBase": "0,14",
                        "boxStorageLiter": "-",
                        "boxStorageCoefExpr": "115",
                    }
                ],
            }
        }
    },
}

PATHS_WITHOUT_PAGES = {
    "analytics.stock_items.list": "data.items",
    "feedbacks.archive.list": "data.feedbacks",
    "fbs.orders.new": "orders",
    "finance.sales_reports.report_details": "",
    "marketplace.warehouses.list": "",
    "prices.goods.find": "data.listGoods",
    "promotion.campaigns.list": "adverts",
    "reports.paid_storage.download": "",
    "reports.warehouse_remains.download": "",
    "tariffs.box.list": "response.data.warehouseList",
}
"""Where the rows are in the replies of operations that the registry has no pagination for."""
