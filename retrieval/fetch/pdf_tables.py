"""A reader of a PDF's ruled tables, row by row. In plain extracted text their cells run together."""

import io
import logging
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic

import pdfplumber
from pdfminer.pdfexceptions import PDFException
from pdfplumber.pdf import PDF

MAX_PAGES = 60
# The errors that pdfminer raises on damaged files besides its own.
_OTHERS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError, AssertionError, OSError)
_DAMAGE = (PDFException, *_OTHERS)
logging.getLogger("pdfminer").setLevel(logging.ERROR)


def read_tables(content: bytes, limit: timedelta) -> str:
    """Read the tables of the first pages, as far as `limit` allows, with bars between cells; empty where there are none.

    A damaged file has none either.
    """
    try:
        with pdfplumber.open(io.BytesIO(content)) as document:
            return "\n\n".join(_read_tables(document, limit))
    except _DAMAGE as error:
        logging.getLogger(__name__).info("no tables were read from a PDF: %s", type(error).__name__)
        return ""


def _read_tables(document: PDF, limit: timedelta) -> Iterator[str]:
    started = monotonic()
    for number, page in enumerate(document.pages[:MAX_PAGES], start=1):
        if monotonic() - started > limit.total_seconds():
            return
        for rows in page.extract_tables():
            lines = [" | ".join(" ".join((cell or "").split()) for cell in row) for row in rows]
            if len(lines) > 1 and len(rows[0]) > 1:
                yield f"Table on page {number}:\n" + "\n".join(lines)
        page.close()
