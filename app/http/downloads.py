"""Names of files that are sent to be saved (RFC 6266, RFC 8187)."""

import re
import unicodedata
from urllib.parse import quote

LONGEST_NAME = 80


def disposition_of(title: str, extension: str) -> str:
    """Return a `Content-Disposition` that saves the body under the title; clients without Unicode get its ASCII letters."""
    name = file_name_of(title)
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "-", ascii_name).strip("-") or "report"
    return f"attachment; filename=\"{plain}.{extension}\"; filename*=UTF-8''{quote(f'{name}.{extension}', safe='')}"


def file_name_of(title: str) -> str:
    """Return the title's letters and digits, of any script, joined by hyphens: no character has a meaning to a file system."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", title)).strip("-")
    return words[:LONGEST_NAME].rstrip("-") or "report"
