"""The style that a page states for its elements: inline, and in the rules of its `<style>` elements."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from lxml.html import HtmlElement

from retrieval.fetch.style_rules import read_rules, split_outside_brackets

_NAME = r"(?:[\w-]|\\[^\w\s])+"
_COMPOUND = re.compile(rf"([a-z][a-z0-9]*)?((?:[.#]{_NAME})*)", re.IGNORECASE)
_EVERYWHERE = re.compile(r"inherit|initial|unset|revert|revert-layer|(?:var|calc|min|max|clamp|env)\(.*\)", re.DOTALL)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_UNIT = r"(?:%|px|pt|pc|in|[cm]m|q|r?em|r?lh|ex|ch|[sld]?v(?:w|h|i|b|min|max))"
# A browser takes a number without a unit in old pages only; believing it where it hides is the safe side.
_LENGTH = rf"{_NUMBER}{_UNIT}|-[\d.]+|0*[01]?(?:\.\d+)?|auto|none|(?:min|max|fit)-content"
_TABLE = r"table-(?:row|cell|column|caption|(?:row|column|header|footer)-group)"
_BOX = r"(?:inline-)?(?:block|flex|grid|table)|inline|-webkit-(?:inline-)?(?:box|flex)"
_KNOWN = {
    "display": rf"none|contents|list-item|flow-root|{_BOX}|{_TABLE}",
    "visibility": "visible|hidden|collapse",
    "content-visibility": "visible|hidden|auto",
    "opacity": rf"{_NUMBER}%?",
    "font-size": rf"{_LENGTH}|(?:xx?-|xxx-)?(?:small|large)|medium|smaller|larger",
    **dict.fromkeys(("width", "height", "max-width", "max-height"), _LENGTH),
    **dict.fromkeys(("left", "top", "right", "text-indent", "margin-left", "margin-top"), _LENGTH),
}
"""The values of properties that can hide. A browser drops a declaration with another value, and the one before it holds."""
_FONT_SIZE = re.compile(rf"(?:^|\s)(0|{_NUMBER}{_UNIT})(?=[\s/])")


class _Declaration(NamedTuple):
    name: str
    value: str
    important: bool


class _Compound(NamedTuple):
    """A selector's part for one element: its tag, empty for any, and its classes and ids with their signs."""

    tag: str
    names: frozenset[str]


class _Rule(NamedTuple):
    """A selector, which asks for ancestors and then for the element, with its declarations."""

    selector: tuple[_Compound, ...]
    declarations: tuple[_Declaration, ...]
    rank: tuple[int, ...]


class PageStyle:
    """The stated style of a page's elements. Rules of other files and of scripts are unknown.

    Of selectors, those are read that are made of tags, classes, ids and ancestors.
    """

    def __init__(self, page: HtmlElement) -> None:
        self._rules: dict[str, list[_Rule]] = {}
        self._found: dict[HtmlElement, Mapping[str, str]] = {}
        css = "\n".join(f"@media {sheet.get('media') or 'all'} {{{sheet.text or ''}}}" for sheet in page.iter("style"))
        for order, (selectors, body) in enumerate(read_rules(css)):
            for rule in _rules_of(selectors, body, order):
                last = rule.selector[-1]
                self._rules.setdefault(min(last.names, default=last.tag), []).append(rule)

    def find(self, element: HtmlElement) -> Mapping[str, str]:
        """Return the value of each stated property, in small letters."""
        if element not in self._found:
            self._found[element] = dict(self._read(element))
        return self._found[element]

    def _read(self, element: HtmlElement) -> Iterator[tuple[str, str]]:
        """Yield properties and values, the weakest first."""
        rules = [rule for name in (*_names_of(element), element.tag) for rule in self._rules.get(name, ())]
        stated = [rule for rule in rules if _selects(rule.selector, element)]
        ranked = [rule.declarations for rule in sorted(stated, key=lambda rule: rule.rank)]
        ranked.append(_read_declarations(element.get("style") or ""))
        for important in (False, True):
            yield from ((each.name, each.value) for each in chain.from_iterable(ranked) if each.important is important)


def _rules_of(selectors: str, body: str, order: int) -> Iterator[_Rule]:
    declarations = _read_declarations(body)
    for selector in split_outside_brackets(selectors, ","):
        parts = [_COMPOUND.fullmatch(part) for part in selector.split()]
        if declarations and parts and all(parts):
            compounds = tuple(_compound_of(part) for part in parts if part)
            names = [name for compound in compounds for name in compound.names]
            ids, tags = sum(name.startswith("#") for name in names), sum(bool(compound.tag) for compound in compounds)
            yield _Rule(compounds, declarations, (ids, len(names) - ids, tags, order))


def _compound_of(found: re.Match[str]) -> _Compound:
    names = re.findall(rf"[.#]{_NAME}", found.group(2))
    return _Compound((found.group(1) or "").lower(), frozenset(name.replace("\\", "") for name in names))


def _selects(selector: Iterable[_Compound], element: HtmlElement) -> bool:
    *before, last = selector
    above = element.iterancestors()
    return _matches(last, element) and all(any(_matches(part, outer) for outer in above) for part in reversed(before))


def _matches(compound: _Compound, element: HtmlElement) -> bool:
    return compound.tag in ("", element.tag) and compound.names <= _names_of(element)


def _names_of(element: HtmlElement) -> frozenset[str]:
    classes = frozenset(f".{name}" for name in (element.get("class") or "").split())
    return classes | {f"#{element.get('id')}"} if element.get("id") else classes


@lru_cache(1_000)
def _read_declarations(style: str) -> tuple[_Declaration, ...]:
    """Read the declarations of a style, without those whose value a browser does not know."""
    return tuple(_parse_declarations(style))


def _parse_declarations(style: str) -> Iterator[_Declaration]:
    for text in split_outside_brackets(style, ";") if style else ():
        name, _, stated = text.partition(":")
        value, mark, _ = stated.strip().lower().partition("!")
        for each, said in _spell_out(name.strip().lower(), value.strip()):
            if _is_known(each, said):
                yield _Declaration(each, said, bool(mark))


def _spell_out(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what a shorthand says of the properties that can hide."""
    if name == "background":
        image = "url(" in value or "gradient(" in value or "image" in value
        yield from (("background-image", value if image else "none"), ("background-color", value))
    elif name == "font" and (size := _FONT_SIZE.search(value)):
        yield "font-size", size.group(1)
    else:
        yield "background-clip" if name == "-webkit-background-clip" else name, value


def _is_known(name: str, value: str) -> bool:
    known = _KNOWN.get(name, ".+")
    return bool(value) and bool(_EVERYWHERE.fullmatch(value) or re.fullmatch(known, value, re.DOTALL))
