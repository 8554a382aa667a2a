"""The cascade of a page: what each element states for the properties that can hide it."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import tinycss2
from cssselect2 import Matcher
from lxml.html import HtmlElement
from tinycss2.ast import Declaration, Node

from retrieval.fetch.styles.counted_element import CountedElement, Exhausted, Steps
from retrieval.fetch.styles.media import split_at_commas
from retrieval.fetch.styles.properties import KNOWN, Tokens, spell_out, words_of
from retrieval.fetch.styles.sheets import Rule, StyleSheets

MAX_TOKENS, MAX_DEPTH = 1_000, 12
MAX_INLINE = 4_000
MAX_STYLED = 60_000
"""The elements with a style of their own that a page may have: some seconds."""
_NO_PAGE = ("noscript", "template")
_DATA = "data:text/css"
_UNSET = tinycss2.parse_component_value_list("unset")
_HINTS = {
    "hidden": "display: none",
    "dialog": "display: none",
    "a": "color: #0000ee",
    "mark": "background-color: yellow; color: black",
}

Stated = Mapping[str, Tokens]


class _Statement(NamedTuple):
    """A declaration, spelled out unless it `varies` with a variable. Custom properties keep their tokens."""

    said: tuple[tuple[str, Tokens], ...]
    important: bool
    varies: bool
    name: str


class PageStyle:
    """The stated style of a page's elements, from its `<style>` elements and `style` attributes.

    `complete` is false where a page has more of them than are read, or where matching them costs too much.
    """

    def __init__(self, page: HtmlElement) -> None:
        self._sheets = StyleSheets()
        for css in _list_sheets(page):
            self._sheets.read(css)
        self.complete = self._sheets.complete
        self.has_outside_sheets = any("stylesheet" in (link.get("rel") or "").lower().split() for link in page.iter("link"))
        self._styled = 0
        self._matcher = Matcher()
        self._spelled: dict[int, tuple[_Statement, ...]] = {}
        self._known: dict[tuple[object, ...], tuple[_Statement, ...]] = {}
        for rule in self._sheets.rules:
            for selector in rule.selectors:
                if selector.pseudo_element is None:
                    self._matcher.add_selector(selector, rule)
        self._frames = {name: _state(frame) for name, frame in self._sheets.last_frames.items()}

    def read(self, element: CountedElement, variables: Stated) -> tuple[Stated, Stated]:
        """Return the value of each property that an element states, and the variables that hold in it."""
        statements = self._list_statements(element)
        self._styled += bool(statements)
        self.complete = self.complete and self._styled <= MAX_STYLED
        if not statements or self._styled > MAX_STYLED:
            return {}, variables
        own = {each.name: each.said[0][1] for each in statements if each.name.startswith("--")}
        variables = {**variables, **own} if own else variables
        stated: dict[str, Tokens] = {}
        for each in statements:
            if not each.name.startswith("--"):
                stated.update(self._fill_in(each, variables, element.steps) if each.varies else each.said)
        if "animation-name" in stated:
            stated.update(self._end_of_animations(stated))
        return stated, variables

    def _list_statements(self, element: CountedElement) -> tuple[_Statement, ...]:
        """Return the statements on an element, the weakest first."""
        found = self._match(element)
        html = element.etree_element
        key = (*(id(rule) for _, _, _, rule in found), html.get("style"), _hint_of(html))
        if key not in self._known:
            self._known[key] = tuple(self._rank([(where[0], where[1], where[3]) for where in found], html))
        return self._known[key]

    def _match(self, element: CountedElement) -> list[tuple[tuple[int, ...], int, object, Rule]]:
        try:
            element.steps.take(1 + self._count_candidates(element))
            found: list[tuple[tuple[int, ...], int, object, Rule]] = self._matcher.match(element)
        except (Exhausted, RecursionError):
            self.complete, element.steps.left = False, 0
            return []
        return found

    def _count_candidates(self, element: CountedElement) -> int:
        matcher = self._matcher
        by_class = sum(len(matcher.class_selectors.get(name, ())) for name in element.classes)
        by_tag = len(matcher.lower_local_name_selectors.get(element.local_name, ()))
        return by_class + by_tag + len(matcher.id_selectors.get(element.id, ())) + len(matcher.other_selectors)

    def _rank(self, found: Sequence[tuple[tuple[int, ...], int, Rule]], html: HtmlElement) -> Iterator[_Statement]:
        yield from _state_text(_hint_of(html))
        inline = _state_text((html.get("style") or "")[:MAX_INLINE])
        for important in (False, True):
            ranked = sorted(found, key=lambda each: (-each[2].layer if important else each[2].layer, each[0], each[1]))
            for _, _, rule in ranked:
                yield from (each for each in self._spell(rule) if each.important is important)
            yield from (each for each in inline if each.important is important)

    def _spell(self, rule: Rule) -> tuple[_Statement, ...]:
        if id(rule) not in self._spelled:
            self._spelled[id(rule)] = _state(rule.declarations)
        return self._spelled[id(rule)]

    def _fill_in(self, statement: _Statement, variables: Stated, steps: Steps) -> list[tuple[str, Tokens]]:
        try:
            return list(_fill_in(statement, variables, steps))
        except (Exhausted, RecursionError):
            self.complete, steps.left = False, 0
            return []

    def _end_of_animations(self, stated: Stated) -> Iterator[tuple[str, Tokens]]:
        """Yield what the animations of an element leave behind."""
        modes = {word.lower_value for word in stated.get("animation-fill-mode", ()) if word.type == "ident"}
        if modes & {"forwards", "both"}:
            for word in stated["animation-name"]:
                for each in self._frames.get(word.value, ()) if word.type in ("ident", "string") else ():
                    yield from each.said


def _list_sheets(page: HtmlElement) -> Iterator[str]:
    """Yield the sheets that stand in the page, each within the media for which it is."""
    for sheet in page.iter("style", "link"):
        if any(outer.tag in _NO_PAGE for outer in sheet.iterancestors()):
            continue
        css = (sheet.text or "") if sheet.tag == "style" else _read_link(sheet)
        if css and (sheet.get("type") or "text/css").lower() == "text/css":
            media = sheet.get("media")
            yield f"@media {media} {{{css}\n}}" if media else css


def _read_link(link: HtmlElement) -> str:
    """Return the sheet that an address itself holds."""
    kind, comma, data = (link.get("href") or "").strip().partition(",")
    if not comma or not kind.lower().startswith(_DATA) or "stylesheet" not in (link.get("rel") or "").lower():
        return ""
    try:
        return b64decode(unquote(data)).decode("utf-8", "replace") if kind.endswith(";base64") else unquote(data)
    except (NotBase64, ValueError):
        return ""


def _hint_of(html: HtmlElement) -> str:
    """Return what a browser takes from an element's tag and attributes, below all sheets."""
    hints = (
        [_HINTS["hidden"] if html.get("hidden") != "until-found" else "content-visibility: hidden"]
        if "hidden" in html.attrib
        else []
    )
    if html.tag == "dialog":
        hints += ["display: none"] if "open" not in html.attrib else []
    elif html.tag in _HINTS and (html.tag != "a" or "href" in html.attrib):
        hints.append(_HINTS[html.tag])
    if "popover" in html.attrib:
        hints.append("display: none")
    if html.tag == "font" and html.get("color"):
        hints.append(f"color: {html.get('color')}")
    if html.get("bgcolor"):
        hints.append(f"background-color: {html.get('bgcolor')}")
    return "; ".join(hints)


def _state_text(css: str) -> tuple[_Statement, ...]:
    parsed = tinycss2.parse_blocks_contents(css, skip_comments=True, skip_whitespace=True) if css else ()
    return _state([node for node in parsed if node.type == "declaration" and (node.lower_name in KNOWN or node.name[:2] == "--")])


def _state(declarations: Sequence[Declaration]) -> tuple[_Statement, ...]:
    return tuple(each for declaration in declarations if (each := _state_one(declaration)).said or each.varies)


def _state_one(declaration: Declaration) -> _Statement:
    name, value = declaration.lower_name, words_of(declaration.value)
    if declaration.name.startswith("--"):
        return _Statement(((declaration.name, value),), declaration.important, False, declaration.name)
    if _uses_variables(value):
        return _Statement(((name, value),), declaration.important, True, name)
    return _Statement(tuple(spell_out(name, value)), declaration.important, False, name)


def _uses_variables(tokens: Tokens, depth: int = 0) -> bool:
    return depth < MAX_DEPTH and any(
        token.type == "function" and (token.lower_name == "var" or _uses_variables(token.arguments, depth + 1))
        for token in tokens
    )


def _fill_in(statement: _Statement, variables: Stated, steps: Steps) -> Iterator[tuple[str, Tokens]]:
    """Yield what a declaration says with its variables; one that has no value sets the property back."""
    name, value = statement.said[0]
    filled = _substitute(value, variables, steps)
    said = list(spell_out(name, filled)) if filled else []
    yield from said or ((name, _UNSET),)


def _substitute(tokens: Tokens, variables: Stated, steps: Steps, depth: int = 0) -> list[Node] | None:
    """Return the tokens with the values of variables in their places; None where one has none."""
    filled: list[Node] = []
    for token in tokens:
        steps.take(1)
        inner: list[Node] | None = [token]
        if token.type == "function" and token.lower_name == "var":
            inner = _value_of(token, variables, steps, depth + 1)
        elif token.type == "function" and _uses_variables(token.arguments):
            inner = _substitute(token.arguments, variables, steps, depth + 1)
            inner = inner and tinycss2.parse_component_value_list(f"{token.name}({tinycss2.serialize(inner)})")
        if inner is None or depth > MAX_DEPTH or len(filled) + len(inner) > MAX_TOKENS:
            return None
        filled += inner
    return filled


def _value_of(reference: Node, variables: Stated, steps: Steps, depth: int) -> list[Node] | None:
    parts = list(split_at_commas(reference.arguments))
    name = parts[0][0].value if parts[0] and parts[0][0].type == "ident" else ""
    if name in variables:
        return _substitute(variables[name], variables, steps, depth)
    return _substitute([token for part in parts[1:] for token in part], variables, steps, depth) if parts[1:] else None
