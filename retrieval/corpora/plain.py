"""The decoding of bytes: their encoding, and the check that they are text."""

import codecs
import re

from charset_normalizer import from_bytes

from app.domain.errors import SourceUnreadable
from retrieval.corpora.alphabets import detect_encoding
from retrieval.corpora.extract import Extract

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 65_536
_LEAD = 200
_MAX_CONTROL_SHARE = 0.02
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


def read_plain(content: bytes) -> Extract:
    """Read a text file in any encoding."""
    return Extract(decode_text(content)).read_marks()


def decode_text(content: bytes) -> str:
    """Decode `content` by its byte-order mark, as UTF-8, or by detection. Line ends become newlines.

    Raises:
        SourceUnreadable: it is not text.
    """
    text = _decode(content).replace("\r\n", "\n").replace("\r", "\n")
    sample = text[:_SAMPLE]
    control = sum(char < " " and char not in "\n\t\f" for char in sample)
    if control > _MAX_CONTROL_SHARE * len(sample):
        raise SourceUnreadable("is not text (binary content)")
    return text.replace("\x00", "").replace("\f", "\n\n")


def _decode(content: bytes) -> str:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        if b"\x00" in content[:_SAMPLE]:
            raise SourceUnreadable("is not text (binary content)") from None
    damaged = content.decode("utf-8", errors="replace")
    if sum(char > "\x7f" for char in damaged) > 2 * damaged.count("\ufffd"):
        return damaged  # letters of other encodings are hardly ever valid UTF-8
    return content.decode(_detect_encoding(content), errors="replace")


def _detect_encoding(content: bytes) -> str:
    """Detect the likeliest encoding around the first byte beyond ASCII, because much ASCII before it misleads."""
    first = _BEYOND_ASCII.search(content)
    start = max(0, first.start() - _LEAD) if first else 0
    sample = content[start : start + _SAMPLE]
    by_letters = detect_encoding(sample)
    if by_letters is not None:
        return by_letters
    best = from_bytes(sample).best()
    if best is None:
        raise SourceUnreadable("is not text in any known encoding")
    return best.encoding
