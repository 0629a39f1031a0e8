"""Rows of Communications: feedbacks, questions, claims."""

from __future__ import annotations

from decimal import Decimal

from wbtrio.rows._base import Row


class ProductDetails(Row, frozen=True, kw_only=True):
    """The item that a feedback or a question is about.

    Attributes:
        nm_id: WB's item number.
        imt_id: Shared by merged cards.
        product_name: Title of the card.
        supplier_article: The seller's item number.
        supplier_name: The seller.
        brand_name: Brand.
        size: The seller's name of the size; feedbacks only.
    """

    nm_id: int | None = None
    imt_id: int | None = None
    product_name: str | None = None
    supplier_article: str | None = None
    supplier_name: str | None = None
    brand_name: str | None = None
    size: str | None = None


class Answer(Row, frozen=True, kw_only=True):
    """The seller's answer to a feedback or a question.

    Attributes:
        text: Its text.
        state: none, wbRu (shown), reviewRequired, rejected; feedbacks only.
        editable: Whether it may still be changed.
        create_date: When it was written; questions only.
    """

    text: str | None = None
    state: str | None = None
    editable: bool | None = None
    create_date: str | None = None


class PhotoLink(Row, frozen=True, kw_only=True):
    """A photo in a feedback.

    Attributes:
        full_size: Address of the photo.
        mini_size: Address of its thumbnail.
    """

    full_size: str | None = None
    mini_size: str | None = None


class FeedbackVideo(Row, frozen=True, kw_only=True):
    """A video in a feedback.

    Attributes:
        preview_image: Address of its cover.
        link: Address of its HLS playlist.
        duration_sec: Seconds.
    """

    preview_image: str | None = None
    link: str | None = None
    duration_sec: int | None = None


class Feedback(Row, frozen=True, kw_only=True):
    """A buyer's feedback: `feedbacks.feedbacks.list`, `feedbacks.archive.list`.

    Attributes:
        id: The key.
        text: The buyer's text.
        pros: What the buyer likes.
        cons: What the buyer does not.
        product_valuation: 1 to 5.
        created_date: RFC 3339.
        answer: The seller's answer.
        state: none (new), wbRu (handled).
        product_details: The item.
        photo_links: Photos.
        video: Video.
        was_viewed: Whether the seller has seen it.
        user_name: The buyer's name.
        order_status: buyout, rejected, returned, notSpecified.
        matching_size: "", ok, smaller, bigger.
        bables: The buyer's tags.
        last_order_shk_id: Number of the piece.
        last_order_created_at: When it was bought.
        color: Colour.
        subject_id: WB's id of the subject.
        subject_name: Its name.
        parent_feedback_id: The first feedback, if this one adds to it.
        child_feedback_id: The feedback that adds to this one.
        is_able_return_product_orders: Whether a return may be offered.
        return_product_orders_date: When it was.
    """

    id: str
    text: str | None = None
    pros: str | None = None
    cons: str | None = None
    product_valuation: int | None = None
    created_date: str | None = None
    answer: Answer | None = None
    state: str | None = None
    product_details: ProductDetails | None = None
    photo_links: tuple[PhotoLink, ...] | None = None
    video: FeedbackVideo | None = None
    was_viewed: bool | None = None
    user_name: str | None = None
    order_status: str | None = None
    matching_size: str | None = None
    bables: tuple[str, ...] | None = None
    last_order_shk_id: int | None = None
    last_order_created_at: str | None = None
    color: str | None = None
    subject_id: int | None = None
    subject_name: str | None = None
    parent_feedback_id: str | None = None
    child_feedback_id: str | None = None
    is_able_return_product_orders: bool | None = None
    return_product_orders_date: str | None = None


class Question(Row, frozen=True, kw_only=True):
    """A buyer's question: `questions.questions.list`.

    Attributes:
        id: The key.
        text: The question.
        created_date: RFC 3339, up to nine decimals.
        state: none (rejected by the seller), wbRu (answered and shown), suppliersPortalSynch
            (new).
        answer: The seller's answer.
        product_details: The item.
        was_viewed: Whether the seller has seen it.
        is_warned: Whether WB finds it suspicious.
    """

    id: str
    text: str | None = None
    created_date: str | None = None
    state: str | None = None
    answer: Answer | None = None
    product_details: ProductDetails | None = None
    was_viewed: bool | None = None
    is_warned: bool | None = None


class Claim(Row, frozen=True, kw_only=True, rename=None):
    """A buyer's claim to return an item: `returns.claims.list`.

    Attributes:
        id: The key.
        claim_type: 1 the shop, 3 the chat.
        status: 0 under review, 1 refused, 2 approved.
        status_ex: What becomes of the piece; WB adds numbers to this list.
        nm_id: WB's item number.
        user_comment: The buyer's words.
        wb_comment: The answer to the buyer.
        dt: When it was filed, Moscow time.
        imt_name: Title of the card.
        order_dt: When the item was ordered.
        dt_update: When it was decided; when it was filed, if it was not. Moscow time.
        delivery_dt: When the buyer received the item.
        photos: Addresses without a scheme.
        video_paths: Addresses without a scheme.
        actions: Answers that the seller may give; empty: none.
        price: What the buyer paid, in `currency_code`.
        currency_code: Number of the currency, as text.
        srid: Id of the order.
        origin_id_info: Outcome of the check of the IMEI.
    """

    id: str
    claim_type: int | None = None
    status: int | None = None
    status_ex: int | None = None
    nm_id: int | None = None
    user_comment: str | None = None
    wb_comment: str | None = None
    dt: str | None = None
    imt_name: str | None = None
    order_dt: str | None = None
    dt_update: str | None = None
    delivery_dt: str | None = None
    photos: tuple[str, ...] | None = None
    video_paths: tuple[str, ...] | None = None
    actions: tuple[str, ...] | None = None
    price: Decimal | None = None
    currency_code: str | None = None
    srid: str | None = None
    origin_id_info: str | None = None
