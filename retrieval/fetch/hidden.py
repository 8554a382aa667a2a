"""The removal of the parts of a page that its readers do not see. Their text is returned for the search for instructions."""

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

MAX_CHARS = 20_000
_DECLARATIONS = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0*(?![.\d])|content-visibility\s*:\s*hidden"
    r"|font-size\s*:\s*(?:0*\.?0+|0?\.\d+|1)(?:px|pt|em|rem|%)?\s*(?:;|!|$)|(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)"
    r"|(?:left|top|right|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}|clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%|circle\(\s*0)"
    r"|transform\s*:[^;]*scale\(\s*0\s*[,)]|(?:^|[;\s])color\s*:\s*transparent",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)", re.IGNORECASE)
_GROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_NAMED_WHITES = ("white", "snow", "ivory", "ghostwhite")
_WHITES = frozenset((*_NAMED_WHITES, "#fff", "#ffffff", "#fefefe", "#fdfdfd", "rgb(255,255,255)", "rgba(255,255,255,1)"))
_RULE = re.compile(r"([^{}]{1,300})\{([^{}]{1,2000})\}")
_SELECTOR = re.compile(r"(?:[a-z][a-z0-9]*)?(?:[.#][\w-]+)", re.IGNORECASE)
_NEVER_SHOWN = ("template", "noscript", "datalist")
_SPOKEN = ("alt", "title", "aria-label", "placeholder", "content", "data-prompt", "data-instructions", "summary")
_MAX_CSS = 200_000


def take_hidden(page: HtmlElement) -> str:
    """Remove invisible elements and comments from the page, and return their text, up to 20,000 characters.

    Of the style sheets, only rules in the page that name a class or an id are known.
    """
    hidden = [*_take_comments(page), *_read_attributes(page)]
    for element in list(_find_invisible(page)):
        hidden.append(" ".join(str(element.text_content()).split()))
        if element.getparent() is not None:
            element.drop_tree()
    return "\n".join(text for text in dict.fromkeys(hidden) if text)[:MAX_CHARS]


def _take_comments(page: HtmlElement) -> Iterator[str]:
    for comment in list(page.xpath("//comment()")):
        yield " ".join((comment.text or "").split())
        comment.drop_tree()


def _read_attributes(page: HtmlElement) -> Iterator[str]:
    """Yield the words of attributes that only machines and screen readers read."""
    for name in _SPOKEN:
        for value in page.xpath(f"//@{name}"):
            if len(value) > 20:
                yield " ".join(value.split())


def _find_invisible(page: HtmlElement) -> Iterator[HtmlElement]:
    hiding = frozenset(_find_hiding_selectors(page))
    for element in page.iter():
        if not isinstance(element.tag, str) or element.tag in ("html", "body", "head"):
            continue
        if _is_hidden(element, hiding):
            yield element


def _is_hidden(element: HtmlElement, hiding: frozenset[str]) -> bool:
    if element.tag in _NEVER_SHOWN or element.get("hidden") is not None:
        return True
    style = element.get("style")
    return bool(style and _hides(style)) or (bool(hiding) and not hiding.isdisjoint(_selectors_of(element)))


def _hides(style: str) -> bool:
    return _DECLARATIONS.search(style) is not None or _has_same_colour(style)


def _has_same_colour(style: str) -> bool:
    """Say whether the text has the colour of its background; an unstated background is white."""
    colour, ground = _COLOUR.search(style), _GROUND.search(style)
    if colour is None:
        return False
    text = _normalise_colour(colour.group(1))
    behind = _normalise_colour(ground.group(1)) if ground else "white"
    return text == behind or (text in _WHITES and behind in _WHITES)


def _normalise_colour(colour: str) -> str:
    return re.sub(r"\s+", "", colour).lower()


def _selectors_of(element: HtmlElement) -> Iterator[str]:
    for name in (element.get("class") or "").split():
        yield f".{name}"
        yield f"{element.tag}.{name}"
    if element.get("id"):
        yield f"#{element.get('id')}"
        yield f"{element.tag}#{element.get('id')}"


def _find_hiding_selectors(page: HtmlElement) -> Iterator[str]:
    css = "\n".join(str(sheet.text or "") for sheet in page.iter("style"))[:_MAX_CSS]
    for rule in _RULE.finditer(css):
        if _hides(rule.group(2)):
            for selector in rule.group(1).split(","):
                if _SELECTOR.fullmatch(selector.strip()):
                    yield selector.strip()
