"""Safe pieces of HTML. All text from outside passes through here."""

import html
from urllib.parse import SplitResult, unquote, urlsplit


def escape(value: object) -> str:
    """Return the value escaped for an element or a quoted attribute."""
    return html.escape(str(value), quote=True)


def link_html(url: str, label: str) -> str:
    """Return a link that opens a new tab as HTML; only the label if a browser should not open the address."""
    if _split_address(url).scheme not in ("http", "https"):
        return escape(label)
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{escape(label)}</a>'


def site_of(url: str) -> str:
    """Return the part of an address that a reader recognises: the host, or the folder or collection of a file."""
    parts = _split_address(url)
    if parts.netloc:
        return parts.netloc.removeprefix("www.")
    folder, _, name = unquote(parts.path).rpartition("/")
    return folder.rpartition("/")[2] or name


def _split_address(url: str) -> SplitResult:
    """Split an address. Tools give sources their addresses, and not every one can be read."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def escape_for_markdown(label: str) -> str:
    """Return text for places where Streamlit reads Markdown, such as the label of a link, so that it is shown unchanged."""
    return "".join("\\" + c if c in "\\`*_{}[]()#+-.!|<>~$:" else c for c in label)


def make_sentence(detail: str) -> str:
    """Return the API's detail of a problem, which begins small and ends without a stop, as a sentence; empty stays empty."""
    return detail and detail[:1].upper() + detail[1:] + ("" if detail.endswith((".", "?", "!", "。", "…")) else ".")


def labelled_html(label: str, body: str) -> str:
    """Return a block of HTML under a small heading."""
    return f'<h2 class="r-label">{escape(label)}</h2>{body}'


def hero_html(title: str, lead: str) -> str:
    """Return the head of a page, its title and lead, as HTML."""
    return f'<div class="r-hero"><h1>{escape(title)}</h1><p class="r-lead">{escape(lead)}</p></div>'
