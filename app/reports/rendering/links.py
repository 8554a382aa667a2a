"""Keep only those links in Markdown that lead to cited sources.

Reports contain words of pages and models. An image or link in them could send the reader, or data in its address, to
anyone; so only links to a source of this report stay, no images, and HTML is shown as text.
"""

import re
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.domain.evidence import Source

IMAGE = re.compile(r"!\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
LINK = re.compile(r"(?<!\\)\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(\s*<?([^)\s>]*)>?[^)\n]*\)")
REFERENCE = re.compile(r"^[ \t]{0,3}\[(?!\[)[^\]\n]+\]:[ \t]*\S.*$", re.MULTILINE)
REFERRED = re.compile(r"(?<![\[\\])\[((?!\[)[^\[\]\n]+)\]\[(?!\[)[^\[\]\n]*\](?!\])")
AUTOLINK = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,31}:|[\w.+-]+@)[^<>\s]*)>")
TAG = re.compile(r"<(?=[a-zA-Z/!?])")
FILE = re.compile(r"file:///[^/]+/(.+)", re.DOTALL)
BARE_ADDRESS = re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]*)://|\b(www)\.(?=\w)")
PLACEHOLDER = re.compile(r"\x00(\d+)\x00")
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
_PARSER = MarkdownIt("commonmark").enable("table").disable("text_join")
# All programs do not refuse the same addresses.
_PARSER.validateLink = lambda url: True  # type: ignore[method-assign]
WEB = re.compile(r"https?://[^\s<>\"'`\\^{|}]+$", re.IGNORECASE)


def remove_foreign_links(markdown: str, addresses: frozenset[str]) -> str:
    """Return the text without images, HTML, and links to anything but `addresses`."""
    text = REFERRED.sub(r"\1", REFERENCE.sub("", IMAGE.sub(r"\1", markdown)))
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if match.group(0).startswith("[["):
            # A citation marker before a parenthesis: once numbered, "[1](address)" would be a link.
            return match.group(0).replace("]](", "]] (")
        if match.group(2) not in addresses or not is_web(match.group(2)):
            return match.group(1)
        kept.append(match.group(0))
        return f"\x00{len(kept) - 1}\x00"

    text = LINK.sub(keep, text)
    text = TAG.sub(r"\\<", AUTOLINK.sub(r"\1", text))
    # A link that the patterns above missed (over two lines, say) loses the characters that make it one.
    text = text.replace("](", "]\\(")
    return PLACEHOLDER.sub(lambda m: kept[int(m.group(1))], disarm_addresses(text))


def leads_elsewhere(markdown: str, addresses: frozenset[str]) -> bool:
    """Say whether a reader's program finds an image, HTML, a bare address, or a link to anything but `addresses`."""
    known = {_PARSER.normalizeLink(address) for address in addresses}
    return any(_leads_elsewhere(token, known) for block in _PARSER.parse(markdown) for token in (block, *(block.children or ())))


def _leads_elsewhere(token: Token, known: set[str]) -> bool:
    match token.type:
        case "image" | "html_inline" | "html_block":
            return True
        case "link_open":
            return token.attrs["href"] not in known
        case "text":
            return BARE_ADDRESS.search(token.content) is not None
        case _:
            return False


def disarm_addresses(text: str) -> str:
    """Return the text with a backslash in every bare address: it reads the same, and no renderer makes a link of it."""
    return BARE_ADDRESS.sub(lambda m: f"{m.group(1)}\\://" if m.group(1) else f"{m.group(2)}\\.", text)


def escape_markdown(text: str) -> str:
    """Return plain text as Markdown that renders to exactly these characters on one line, without links."""
    flat = " ".join(text.split())
    return disarm_addresses(SPECIAL.sub(r"\\\1", flat))


def place_of(source: Source) -> str:
    """Return where a source that is not on the web stands: a file's path in its folder or collection, else its address.

    Empty where the title says it. The address of a file (`file:///folder/path`) opens nothing where a report is read.
    """
    place = file_path_of(source.url) or source.url
    return "" if place.strip() == source.title.strip() else place


def file_path_of(address: str) -> str:
    """Return a file's path in its folder or collection; empty for any other address."""
    folder_and_path = FILE.fullmatch(address)
    return unquote(folder_and_path.group(1)) if folder_and_path else ""


def is_web(address: str) -> bool:
    """Return True for an address that a reader may open; `javascript:`, `data:` and `file:` are not such addresses."""
    return WEB.match(address) is not None
