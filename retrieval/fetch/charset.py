"""The decoding of a page by byte-order mark, header, the page's own declaration, or detection (in WHATWG's order)."""

import codecs
import re

from app.domain.errors import SourceUnreadable
from retrieval.corpora.plain import decode_text

_DECLARED = re.compile(
    rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,100}encoding=[\"']([\w.:-]{2,40})", re.IGNORECASE
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD = 4_096
# Labels that browsers read as their Windows or Chinese supersets; the narrower codec would lose characters.
_WIDER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
}
# Codecs that could disguise a text, and codecs of other things than text.
_REFUSED = frozenset(
    [
        "utf-7",
        "idna",
        "punycode",
        "unicode-escape",
        "raw-unicode-escape",
        "rot-13",
        "rot13",
        "hex",
        "base64",
        "bz2",
        "zlib",
        "uu",
        "quopri",
        "undefined",
    ]
)


def decode_page(content: bytes, header: str = "") -> str:
    """Decode a page whose Content-Type names the charset `header`. Raises `SourceUnreadable` if it is not text."""
    if not content.startswith(_BOMS):
        for label in (header, _declared_charset_of(content)):
            codec = _codec_of(label)
            if codec and (text := _decode_strictly(content, codec)) is not None:
                return text
    return decode_text(content)


def _declared_charset_of(content: bytes) -> str:
    found = _DECLARED.search(content[:_HEAD])
    label = (found.group(1) or found.group(2)).decode("ascii", "replace") if found else ""
    return "" if label.lower().startswith(("utf-16", "utf-32")) else label  # ASCII bytes declared it, so it is neither


def _codec_of(label: str) -> str:
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return ""
    return "" if name in _REFUSED else _WIDER.get(name, name)


def _decode_strictly(content: bytes, codec: str) -> str | None:
    """Decode by this codec; None where more than a few bytes do not fit, because the label is wrong then."""
    try:
        text = content.decode(codec, errors="replace")
    except (LookupError, ValueError, TypeError) as error:
        raise SourceUnreadable("is in an encoding that cannot be read") from error
    wrong = text.count("\ufffd")
    if "\x00" in text[:_HEAD] or wrong > max(2, len(text) // 500):
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
