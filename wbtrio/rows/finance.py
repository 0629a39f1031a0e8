"""Rows of Finance: sales reports and their lines.

Money comes as text ("376.99") in the report's `currency` and is decoded to a `Decimal`.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import field

from wbtrio.rows._base import Row


class SalesReport(Row, frozen=True, kw_only=True):
    """The sums of one sales report: `finance.sales_reports.list`.

    Attributes:
        report_id: The key.
        seller_finance_name: The seller.
        date_from: First day, `YYYY-MM-DD`.
        date_to: Last day.
        create_date: Day on which WB made the report.
        currency: Currency of all sums, such as RUB.
        report_type: 1 general, 2 by purchase, 3 by purchase for Georgia.
        retail_amount_sum: Sales.
        for_pay_sum: What WB owes for them.
        avg_sale_percent: Average agreed discount, per cent.
        delivery_service_sum: Logistics.
        paid_storage_sum: Storage.
        paid_acceptance_sum: Acceptance.
        deduction_sum: Other deductions.
        penalty_sum: Fines.
        additional_payment_sum: Adjustments of WB's fee.
        cashback_amount_sum: Withheld for points of the loyalty programme.
        cashback_discount_sum: Compensation for its discounts.
        cashback_commission_change_sum: Price of taking part in it.
        payment_schedule: Price of a one-time change of the payment's date.
        bank_payment_sum: What is paid out.
    """

    report_id: int
    seller_finance_name: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    create_date: str | None = None
    currency: str | None = None
    report_type: int | None = None
    retail_amount_sum: Decimal | None = None
    for_pay_sum: Decimal | None = None
    avg_sale_percent: float | None = None
    delivery_service_sum: Decimal | None = None
    paid_storage_sum: Decimal | None = None
    paid_acceptance_sum: Decimal | None = None
    deduction_sum: Decimal | None = None
    penalty_sum: Decimal | None = None
    additional_payment_sum: Decimal | None = None
    cashback_amount_sum: Decimal | None = None
    cashback_discount_sum: Decimal | None = None
    cashback_commission_change_sum: Decimal | None = None
    payment_schedule: Decimal | None = None
    bank_payment_sum: Decimal | None = None


class SalesReportLine(Row, frozen=True, kw_only=True):
    """One line of a sales report: `finance.sales_reports.details`, `...report_details`.

    Which fields come depends on `fields` in the request; `rrdId` has to be among them, since it
    is the cursor. Names follow WB's; "WB's fee" is its commission (kvw) before or after VAT.

    Attributes:
        rrd_id: The key and the cursor; beyond 32 bits.
        report_id: The report.
        date_from: Its first day, `YYYY-MM-DD`.
        date_to: Its last day.
        create_date: Day on which WB made it.
        currency: Currency of all money, such as RUB.
        report_type: 1 general, 2 by purchase, 3 by purchase for Georgia.
        gi_id: Number of the supply.
        dlv_prc: Fixed multiplier of the warehouse.
        fix_tariff_date_from: First day for which it is fixed.
        fix_tariff_date_to: Last such day.
        subject_name: WB's subject.
        nm_id: WB's item number.
        brand_name: Brand.
        vendor_code: The seller's item number.
        title: Title of the card.
        tech_size: The seller's name of the size.
        sku: Barcode.
        doc_type_name: `Продажа` (sale) or `Возврат` (return).
        quantity: Pieces.
        retail_price: Retail price.
        retail_amount: What WB sold it for.
        sale_percent: Agreed discount, per cent.
        commission_percent: WB's fee, per cent.
        office_name: Warehouse.
        seller_oper_name: Reason of the payment.
        order_dt: When it was ordered, RFC 3339.
        sale_dt: When it was sold.
        rr_date: Day of the operation.
        shk_id: Number of the piece.
        retail_price_with_disc: Retail price with the agreed discount.
        delivery_amount: Deliveries.
        return_amount: Returns.
        delivery_service: Price of the delivery to the buyer.
        gi_box_type_name: Sort of box.
        product_discount_for_report: Final agreed discount, per cent.
        seller_promo: Promo code, per cent.
        spp: WB's discount, per cent.
        kvw_base: WB's fee without VAT, base, per cent.
        kvw: WB's fee without VAT, final, per cent.
        sup_rating_up: How much the rating lowers it, per cent.
        is_kgvp_v2: How much a promotion lowers it, per cent.
        ppvz_sales_commission: WB's fee without VAT and without attorney's services.
        for_pay: What WB owes the seller for it.
        ppvz_reward: Fee of the pick-up point.
        acquiring_fee: Fee of the payment.
        acquiring_percent: The same, per cent.
        payment_processing: Sort of that fee.
        acquiring_bank: Bank of the payment.
        vw: WB's fee without VAT.
        vw_nds: VAT on it.
        ppvz_office_name: Pick-up point.
        ppvz_office_id: Its number.
        ppvz_supplier_name: Its owner.
        ppvz_supplier_inn: The owner's tax number.
        declaration_number: Number of the customs declaration.
        sticker_id: Number on the FBS sticker.
        country: Country of delivery.
        srv_dbs: Whether delivery was paid for.
        penalty: Fines.
        additional_payment: Adjustment of WB's fee.
        rebill_logistic_cost: Cost of carriage and of the warehouse's work.
        rebill_logistic_org: Who carried it.
        paid_storage: Storage.
        deduction: Deductions.
        paid_acceptance: Acceptance.
        order_id: Number of the assembly order.
        is_b2b: Whether the buyer is a business.
        trbx_id: Number of the box.
        installment_cofinancing_amount: Discount of co-financing.
        wibes_discount_percent: Discount of Wibes, per cent.
        cashback_amount: Withheld for points of the loyalty programme.
        cashback_discount: Compensation for its discount.
        cashback_commission_change: Price of taking part in it.
        payment_schedule: Price of a one-time change of the payment's date.
        delivery_method: Scheme and size class, such as `FBS, (МГТ)`.
        seller_promo_id: The seller's own promotion.
        seller_promo_discount: Its discount, per cent.
        loyalty_id: The seller's loyalty discount.
        loyalty_discount: Its size, per cent.
        uuid_promocode: Id of the promo code.
        sale_price_promocode_discount_prc: Its discount, per cent.
        article_substitution: Item number that was promoted in its place.
        sale_price_affiliated_discount_prc: That one's discount, per cent.
        sale_price_wholesale_discount_prc: Wholesale discount, per cent.
        b2b_customer_tin: Tax number of the buyer.
        paid_with_social_certificate: Paid with a social certificate.
        warehouse_logistics_coeff: Multiplier of logistics.
        order_uid: Shared by all orders of one basket.
        srid: Id of the order.
        bonus_type_name: Reason of a deduction or fine; only where there is one.
        agency_vat: VAT that WB withholds as a tax agent (Kyrgyzstan), per cent.
        kiz: Marking code.
    """

    rrd_id: int
    report_id: int | None = None
    date_from: str | None = None
    date_to: str | None = None
    create_date: str | None = None
    currency: str | None = None
    report_type: int | None = None
    gi_id: int | None = None
    dlv_prc: float | None = None
    fix_tariff_date_from: str | None = None
    fix_tariff_date_to: str | None = None
    subject_name: str | None = None
    nm_id: int | None = None
    brand_name: str | None = None
    vendor_code: str | None = None
    title: str | None = None
    tech_size: str | None = None
    sku: str | None = None
    doc_type_name: str | None = None
    quantity: int | None = None
    retail_price: Decimal | None = None
    retail_amount: Decimal | None = None
    sale_percent: float | None = None
    commission_percent: float | None = None
    office_name: str | None = None
    seller_oper_name: str | None = None
    order_dt: str | None = None
    sale_dt: str | None = None
    rr_date: str | None = None
    shk_id: int | None = None
    retail_price_with_disc: Decimal | None = None
    delivery_amount: int | None = None
    return_amount: int | None = None
    delivery_service: Decimal | None = None
    gi_box_type_name: str | None = None
    product_discount_for_report: float | None = None
    seller_promo: Decimal | None = None
    spp: float | None = None
    kvw_base: float | None = None
    kvw: float | None = None
    sup_rating_up: float | None = None
    is_kgvp_v2: float | None = None
    ppvz_sales_commission: Decimal | None = None
    for_pay: Decimal | None = None
    ppvz_reward: Decimal | None = None
    acquiring_fee: Decimal | None = None
    acquiring_percent: float | None = None
    payment_processing: str | None = None
    acquiring_bank: str | None = None
    vw: Decimal | None = None
    vw_nds: Decimal | None = None
    ppvz_office_name: str | None = None
    ppvz_office_id: int | None = None
    ppvz_supplier_name: str | None = None
    ppvz_supplier_inn: str | None = None
    declaration_number: str | None = None
    sticker_id: str | None = None
    country: str | None = None
    srv_dbs: bool | None = None
    penalty: Decimal | None = None
    additional_payment: Decimal | None = None
    rebill_logistic_cost: Decimal | None = None
    rebill_logistic_org: str | None = None
    paid_storage: Decimal | None = None
    deduction: Decimal | None = None
    paid_acceptance: Decimal | None = None
    order_id: int | None = None
    is_b2b: bool | None = field(default=None, name="isB2b")
    trbx_id: str | None = None
    installment_cofinancing_amount: Decimal | None = None
    wibes_discount_percent: float | None = None
    cashback_amount: Decimal | None = None
    cashback_discount: Decimal | None = None
    cashback_commission_change: Decimal | None = None
    payment_schedule: Decimal | None = None
    delivery_method: str | None = None
    seller_promo_id: int | None = None
    seller_promo_discount: float | None = None
    loyalty_id: int | None = None
    loyalty_discount: float | None = None
    uuid_promocode: str | None = None
    sale_price_promocode_discount_prc: float | None = None
    article_substitution: str | None = None
    sale_price_affiliated_discount_prc: float | None = None
    sale_price_wholesale_discount_prc: float | None = None
    b2b_customer_tin: str | None = None
    paid_with_social_certificate: bool | None = None
    warehouse_logistics_coeff: float | None = None
    order_uid: str | None = None
    srid: str | None = None
    bonus_type_name: str | None = None
    agency_vat: float | None = None
    kiz: str | None = None
