"""Safe pieces of HTML. Everything that comes from outside passes through here."""

from html import escape
from urllib.parse import SplitResult, unquote, urlsplit


def text(value: object) -> str:
    """Escaped for use in an element or in a quoted attribute."""
    return escape(str(value), quote=True)


def link(url: str, label: str) -> str:
    """A link that opens a new tab; the bare label where the address is not one a browser should open."""
    if _parts(url).scheme not in ("http", "https"):
        return text(label)
    return f'<a href="{text(url)}" target="_blank" rel="noopener noreferrer">{text(label)}</a>'


def host(url: str) -> str:
    """The part of an address that a reader recognises: the host, or the folder or collection that a file is in."""
    parts = _parts(url)
    if parts.netloc:
        return parts.netloc.removeprefix("www.")
    folder, _, name = unquote(parts.path).rpartition("/")
    return folder.rpartition("/")[2] or name


def _parts(url: str) -> SplitResult:
    """Of what stands where an address should: sources are named by whoever found them, and not every name can be read."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def plain(label: str) -> str:
    """Text for where Streamlit reads Markdown, such as the label of a link: shown as it is."""
    return "".join("\\" + c if c in "\\`*_{}[]()#+-!|<>~$:" else c for c in label)


def labelled(label: str, body: str) -> str:
    """A block of HTML under a small heading."""
    return f'<h2 class="r-label">{text(label)}</h2>{body}'


def hero(title: str, lead: str) -> str:
    """The head of a page that is about nothing in particular."""
    return f'<div class="r-hero"><h1>{text(title)}</h1><p class="r-lead">{text(lead)}</p></div>'
