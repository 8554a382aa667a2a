"""A reader of style sheets: rules with their selectors, nesting, layers, media and key frames, parsed by tinycss2."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import tinycss2
from cssselect2 import SelectorError, compile_selector_list
from cssselect2.compiler import CompiledSelector
from tinycss2.ast import Declaration, Node

from retrieval.fetch.styles.media import fits_screen, split_at_commas
from retrieval.fetch.styles.properties import KNOWN

MAX_CSS = 400_000
MAX_RULES = 20_000
MAX_SELECTOR = 2_000
MAX_DEPTH = 24
_UNLAYERED = 1_000_000
_STATES = frozenset(
    [
        "autofill",
        "placeholder-shown",
        "required",
        "optional",
        "valid",
        "invalid",
        "in-range",
        "out-of-range",
        "user-valid",
        "user-invalid",
        "default",
        "indeterminate",
        "fullscreen",
        "modal",
        "open",
        "popover-open",
        "picture-in-picture",
        "blank",
        "read-write",
        "focus",
        "focus-visible",
        "focus-within",
        "hover",
        "active",
        "visited",
        "target",
        "target-within",
        "current",
        "past",
        "future",
        "host",
        "-webkit-autofill",
        "-moz-focusring",
        "-moz-ui-invalid",
        "-webkit-any-link",
    ]
)
"""States that an untouched page is not in. Without this list, one of them would make the whole rule unknown."""
_LOGIC = ("and", "or", "not")
_ALWAYS = frozenset(("defined", "read-only"))


class Rule(NamedTuple):
    """A rule's selectors, with its declarations and the rank of its layer: a higher one wins, but for what is important."""

    selectors: Sequence[CompiledSelector]
    declarations: Sequence[Declaration]
    layer: int


class StyleSheets:
    """The rules of a page's sheets in their order. `complete`: they were read to their end."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.last_frames: dict[str, Sequence[Declaration]] = {}
        self.complete = True
        self._layers: dict[str, int] = {}
        self._left = MAX_CSS

    def read(self, css: str) -> None:
        """Add the rules of a sheet, of which all sheets together may have `MAX_CSS` characters."""
        self.complete = self.complete and len(css) <= self._left
        css, self._left = css[: self._left], max(0, self._left - len(css))
        self._read_nodes(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), "", "", 0)

    def _read_nodes(self, nodes: Iterable[Node], parent: str, layer: str, depth: int) -> None:
        """Add the rules among some nodes. `parent` is the selector around them, as text."""
        nodes = list(nodes)
        own = [node for node in nodes if node.type == "declaration" and _matters(node)]
        if own and parent:
            self._add(parent, own, layer)
        for node in nodes:
            if len(self.rules) >= MAX_RULES or depth > MAX_DEPTH:
                self.complete = False
                return
            try:
                if node.type == "qualified-rule":
                    self._read_rule(node, parent, layer, depth)
                elif node.type == "at-rule":
                    self._read_at_rule(node, parent, layer, depth)
            except RecursionError:
                self.complete = False

    def _read_rule(self, rule: Node, parent: str, layer: str, depth: int) -> None:
        selector = ", ".join(_spell_selector(part, parent) for part in split_at_commas(rule.prelude))
        if len(selector) > MAX_SELECTOR and "," not in selector:
            self.complete = False
            return
        self._read_nodes(
            tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True), selector, layer, depth + 1
        )

    def _read_at_rule(self, rule: Node, parent: str, layer: str, depth: int) -> None:
        name, prelude = rule.lower_at_keyword, rule.prelude
        if name == "layer":
            layer = self._enter_layer(tinycss2.serialize(prelude).strip(), layer, depth, rule.content is not None)
        elif name.endswith("keyframes"):
            self._read_frames(rule)
            return
        if rule.content is None or not _applies(name, prelude):
            return
        if name == "scope":
            parent = tinycss2.serialize(prelude).partition(")")[0].strip(" (") or parent
        self._read_nodes(
            tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True), parent, layer, depth + 1
        )

    def _enter_layer(self, names: str, outer: str, depth: int, opens: bool) -> str:
        """Rank the named layers by their first mention, and return the one that a block opens."""
        inner = outer
        for name in names.split(",") if names else [f"{len(self._layers)}"]:
            inner = f"{outer}.{name.strip()}"
            self._layers.setdefault(inner, len(self._layers))
        return inner if opens else outer

    def _read_frames(self, rule: Node) -> None:
        """Remember how an animation ends."""
        name = tinycss2.serialize(rule.prelude).strip().strip("\"'")
        for frame in tinycss2.parse_rule_list(rule.content or (), skip_comments=True, skip_whitespace=True):
            if frame.type == "qualified-rule" and {"to", "100%"} & set(
                tinycss2.serialize(frame.prelude).lower().replace(",", " ").split()
            ):
                content = tinycss2.parse_blocks_contents(frame.content, skip_comments=True, skip_whitespace=True)
                self.last_frames[name] = [node for node in content if node.type == "declaration" and _matters(node)]

    def _add(self, selector: str, declarations: Sequence[Declaration], layer: str) -> None:
        try:
            compiled = compile_selector_list(selector)
        except (SelectorError, SyntaxError, NotImplementedError):
            return  # a browser drops such a rule too
        except (RecursionError, MemoryError):
            self.complete = False
            return
        self.rules.append(Rule(compiled, declarations, self._layers[layer] if layer else _UNLAYERED))


def _matters(declaration: Declaration) -> bool:
    return declaration.lower_name in KNOWN or declaration.name.startswith("--")


def _applies(name: str, prelude: Sequence[Node]) -> bool:
    """Say whether the rules in a block hold."""
    if name in ("media", "container"):  # a container is as wide as the screen, as far as is known
        return fits_screen(
            [token for token in prelude if name == "media" or token.type != "ident" or token.lower_value in _LOGIC]
        )
    if name == "supports":
        return not tinycss2.serialize(prelude).strip().lower().startswith("not")
    return name in ("layer", "scope")


def _spell_selector(tokens: Sequence[Node], parent: str) -> str:
    """Write a selector as one for the whole page: nested ones name their parent, and states are those of an untouched page."""
    around = f":is({parent})" if parent else ":root"
    spelled = _spell(tokens, around)
    nested = parent and not any(_is_literal(token, "&") for token in _flatten(tokens))
    return f"{around} {spelled}" if nested else spelled


def _spell(tokens: Sequence[Node], around: str) -> str:
    spelled: list[str] = []
    for token in tokens:
        if _is_literal(token, "&"):
            spelled.append(around)
        elif token.type == "function":
            spelled.append(f"{token.name}({_spell(token.arguments, around)})")
        elif token.type == "ident" and spelled[-1:] == [":"] and spelled[-2:-1] != [":"]:
            name = token.lower_value
            spelled.append("hover" if name in _STATES else "not(:hover)" if name in _ALWAYS else token.serialize())
        else:
            spelled.append(token.serialize())
    return "".join(spelled)


def _flatten(tokens: Iterable[Node]) -> Iterable[Node]:
    for token in tokens:
        yield token
        if token.type == "function":
            yield from _flatten(token.arguments)


def _is_literal(token: Node, sign: str) -> bool:
    return bool(token.type == "literal" and token.value == sign)
