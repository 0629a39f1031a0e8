"""The texts in WB's replies, made safe to show. Pure, bounded in time, never an exception."""

from __future__ import annotations

import codecs
import contextlib
import re
from typing import TYPE_CHECKING

import msgspec

from ._errors import MAX_EXCERPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_FIELD = 256
"""Characters kept of a title, an origin or a request id."""

_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    r"\U000e0000-\U000e007f]+"
)
_TOKEN = re.compile(r"eyJ[A-Za-z0-9_=-]{8,}(?:\.[A-Za-z0-9_=-]*){0,2}")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([a-z0-9_-]{2,20})")
_CHARSETS = ("utf-16", "windows-1251", "cp1251", "koi8-r", "cp866", "iso-8859-1", "iso-8859-5")
_LINK = re.compile(r"https?://[^\s\"'<>;,)\]}]{3,500}")
_WB_LINK = re.compile(r"https?://(?:[a-z0-9-]+\.)*(?:wildberries|wb)\.ru(?:[/:?#]|$)")
_WORDS = ("detail", "errorText", "message", "error", "errors", "additionalErrors", "data")


def clean(text: str) -> str:
    """A text that is safe on one line of a terminal or a log, at most 2,000 characters."""
    shown = _UNSAFE.sub(" ", text[: 4 * MAX_EXCERPT])
    return _TOKEN.sub("<token>", shown)[:MAX_EXCERPT].strip()


def body_text(body: bytes, content_type: str, size: int) -> str:
    """The first `size` bytes as text, in the charset that they show to be in."""
    head = body[:size]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace")
    # What decodes as UTF-8 is UTF-8, whatever the header says; only a cut may split a character.
    with contextlib.suppress(UnicodeDecodeError):
        decoder = codecs.getincrementaldecoder("utf-8")()
        return decoder.decode(head, final=len(body) <= size).removeprefix("\ufeff")
    declared = _CHARSET.search(content_type)
    charset = declared.group(1) if declared else ""
    return head.decode(charset if charset in _CHARSETS else "windows-1251", "replace")


def parse_json(text: str) -> object:
    """The JSON value, or UNSET where there is none: `null` is a value."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.UNSET


def words_of(value: object) -> Iterator[str]:
    """Whatever a body says about its fault, in WB's words, without repetitions."""
    if isinstance(value, dict):
        seen = set()
        for key in _WORDS:
            said = _said(value.get(key))
            if said and said not in seen:
                seen.add(said)
                yield said
    elif isinstance(value, list):
        yield from filter(None, map(_said, value[:20]))
    elif isinstance(value, str):
        yield value


def _said(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None or isinstance(value, bool) or value in ({}, []):
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (OverflowError, RecursionError, ValueError):
        return ""


def first_text(fields: Mapping[str, object], *keys: str) -> str | None:
    """The first of these fields that holds a text, cleaned and cut; None if none does."""
    found = (fields.get(key) for key in keys)
    return next((one_field(text) for text in found if isinstance(text, str) and text.strip()), None)


def one_field(text: str) -> str | None:
    """A short text, cleaned and cut; None if nothing is left of it."""
    return clean(text)[:MAX_FIELD] or None


def first_link(words: str) -> str | None:
    """The first link to one of WB's pages, else the first link, else None."""
    links = [link.rstrip(".:!?") for link in _LINK.findall(words)[:20]]
    ours = (link for link in links if _WB_LINK.match(link))
    return next(ours, links[0] if links else None)


def header(headers: Mapping[str, str], name: str) -> str:
    """A header's value by its lower-case name, "" without; the mapping's names in any case."""
    found = headers.get(name)
    if found is None:
        found = next((value for key, value in headers.items() if key.lower() == name), "")
    return found


def excerpt_of(headers: Mapping[str, str], body: bytes) -> str:
    """The beginning of a body for an error or a log, cleaned, at most 2,000 characters."""
    return clean(body_text(body, header(headers, "content-type").lower(), 4 * MAX_EXCERPT))
