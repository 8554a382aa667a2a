"""The properties that can hide, raise, strike or number text, with the values that a browser knows; shorthands are spelled out.

A browser drops a declaration with another value, and the one before it holds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import tinycss2
from tinycss2.ast import Node

from retrieval.fetch.styles.colours import is_colour
from retrieval.fetch.styles.lengths import measure

Tokens = Sequence[Node]
_SIDES = ("top", "right", "bottom", "left")
_BOX = "inline block flex grid table flow flow-root ruby math inline-block inline-flex inline-grid inline-table"
_OLD_BOX = "-webkit-box -webkit-inline-box -webkit-flex -webkit-inline-flex"
_GROUPS = "table-row-group table-column-group table-header-group table-footer-group"
_TABLE = f"table-row table-cell table-column table-caption {_GROUPS}"
_CUT = frozenset(["visible", "hidden", "clip", "scroll", "auto", "overlay"])
_KEYWORDS = {
    "display": frozenset(f"none contents list-item run-in ruby-text {_BOX} {_OLD_BOX} {_TABLE}".split()),
    "visibility": frozenset(("visible", "hidden", "collapse")),
    "content-visibility": frozenset(("visible", "hidden", "auto")),
    "position": frozenset(("static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky")),
    "float": frozenset(("none", "left", "right", "inline-start", "inline-end")),
    "white-space": frozenset(["normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces", "collapse", "preserve", "wrap"]),
    "flex-direction": frozenset(("row", "row-reverse", "column", "column-reverse")),
    "background-clip": frozenset(("border-box", "padding-box", "content-box", "text", "border-area")),
    "animation-fill-mode": frozenset(("none", "forwards", "backwards", "both")),
    "contain": frozenset(["none", "strict", "content", "size", "inline-size", "layout", "style", "paint"]),
    "overflow-x": _CUT,
    "overflow-y": _CUT,
}
_SIZE_WORDS = frozenset(
    [
        "auto",
        "none",
        "min-content",
        "max-content",
        "fit-content",
        "-webkit-fill-available",
        "stretch",
        "normal",
        "xx-small",
        "x-small",
        "small",
        "medium",
        "large",
        "x-large",
        "xx-large",
        "xxx-large",
        "smaller",
        "larger",
    ]
)
_SIZES = ("width", "height", "min-width", "min-height", "max-width", "max-height", "text-indent", "font-size", "line-height")
_SIDED = tuple(f"{kind}-{side}" for kind in ("margin", "padding") for side in _SIDES)
_LENGTHS = frozenset((*_SIZES, *_SIDES, *_SIDED, "letter-spacing", "opacity", "flex-grow"))
_UNITLESS = frozenset(("opacity", "line-height", "flex-grow"))
_COLOURS = frozenset(("color", "background-color", "-webkit-text-fill-color"))
_SHAPES = frozenset(["inset", "circle", "ellipse", "polygon", "path", "rect", "xywh", "shape", "url"])
_MOVES = (
    "translate",
    "translatex",
    "translatey",
    "translatez",
    "translate3d",
    "rotate",
    "rotatex",
    "rotatey",
    "rotatez",
    "rotate3d",
)
_GROWS = ("scale", "scalex", "scaley", "scalez", "scale3d", "skew", "skewx", "skewy", "matrix", "matrix3d", "perspective")
_FILTERS = [
    "blur",
    "brightness",
    "contrast",
    "drop-shadow",
    "grayscale",
    "hue-rotate",
    "invert",
    "opacity",
    "saturate",
    "sepia",
    "url",
]
_IMAGES = ["url", "image", "image-set", "cross-fade", "element", "linear-gradient", "radial-gradient", "conic-gradient"]
_FUNCTIONS = {
    "clip": frozenset(("rect",)),
    "clip-path": _SHAPES,
    "transform": frozenset((*_MOVES, *_GROWS)),
    "filter": frozenset(_FILTERS),
    "mask-image": frozenset([*_IMAGES, *(f"repeating-{name}" for name in _IMAGES), *(f"-webkit-{name}" for name in _IMAGES)]),
}
_FUNCTIONS["background-image"] = _FUNCTIONS["mask-image"]
_FUNCTION_WORDS = frozenset(
    ["none", "auto", "border-box", "padding-box", "content-box", "margin-box", "fill-box", "stroke-box", "view-box", "text"]
)
_MARKING = ("vertical-align", "text-decoration-line", "list-style-type")
_ANY = frozenset(
    ("content", "scale", "translate", "rotate", "text-shadow", "animation-name", "grid-template-rows", "grid-template-columns")
)
EVERYWHERE = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))
_ALIASES = {
    "text-decoration": "text-decoration-line",
    "list-style": "list-style-type",
    "inline-size": "width",
    "block-size": "height",
    "min-inline-size": "min-width",
    "min-block-size": "min-height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y",
    **{
        f"inset-{side}": edge
        for side, edge in (("inline-start", "left"), ("inline-end", "right"), ("block-start", "top"), ("block-end", "bottom"))
    },
    **{
        f"{kind}-{side}": f"{kind}-{edge}"
        for kind in ("margin", "padding")
        for side, edge in (("inline-start", "left"), ("inline-end", "right"), ("block-start", "top"), ("block-end", "bottom"))
    },
    **{f"-webkit-{name}": name for name in (*_FUNCTIONS, "background-clip", "animation-name", "animation-fill-mode")},
}
_FOUR = {"margin": "margin-{}", "padding": "padding-{}", "inset": "{}"}
_PAIRS = {
    "overflow": ("overflow-x", "overflow-y"),
    **{f"{kind}-inline": (f"{kind}-left", f"{kind}-right") for kind in ("margin", "padding")},
    **{f"{kind}-block": (f"{kind}-top", f"{kind}-bottom") for kind in ("margin", "padding")},
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
}
_PARTS = frozenset(("background", "font", "flex", "flex-flow", "mask", "-webkit-mask", "animation", "-webkit-animation"))
_SINGLE = frozenset([*_KEYWORDS, *_LENGTHS, *_COLOURS, *_FUNCTIONS, *_ANY, *_MARKING, *_ALIASES])
KNOWN = frozenset([*_SINGLE, *_FOUR, *_PAIRS, *_PARTS])


def words_of(tokens: Tokens) -> list[Node]:
    """Return the tokens without white space and comments."""
    return [token for token in tokens if token.type not in ("whitespace", "comment")]


def list_markings(stated: Mapping[str, Tokens]) -> frozenset[str]:
    """Return what an element states of raised, struck or numbered text, each as "property: word"."""
    said = ((name, word) for name in _MARKING for word in stated.get(name, ()) if word.type == "ident")
    return frozenset(f"{name}: {word.lower_value}" for name, word in said)


def spell_out(name: str, value: Tokens) -> Iterator[tuple[str, Tokens]]:
    """Yield each property that a declaration states, with its value; nothing for a value that a browser does not know."""
    words = words_of(value)
    parts = list(_split(name, words)) if words else []
    everywhere = len(words) == 1 and words[0].type == "ident" and words[0].lower_value in EVERYWHERE
    if everywhere or all(_is_known(each, said) for each, said in parts):
        yield from parts


def _split(name: str, words: list[Node]) -> Iterator[tuple[str, Tokens]]:
    if name in _SINGLE:
        yield _ALIASES.get(name, name), words
    elif name in _FOUR and len(words) <= 4:
        sides = (words * 4)[:4] if len(words) == 1 else (words + words)[:4] if len(words) == 2 else [*words, *words[1:2]][:4]
        yield from ((_FOUR[name].format(side), [word]) for side, word in zip(_SIDES, sides, strict=True))
    elif name in _PAIRS and len(words) <= 2:
        yield from zip(_PAIRS[name], ([words[0]], [words[-1]]), strict=True)
    elif name in _PARTS:
        yield from _split_parts(name.removeprefix("-webkit-"), words)


def _split_parts(name: str, words: list[Node]) -> Iterator[tuple[str, Tokens]]:
    """Yield what a shorthand of several kinds of parts says, and what it sets back by saying nothing."""
    if len(words) == 1 and words[0].type == "ident" and words[0].lower_value in EVERYWHERE:
        names = {
            "background": ("background-color", "background-image"),
            "font": ("font-size", "line-height"),
            "flex": ("flex-grow",),
        }
        yield from ((each, words) for each in names.get(name, ()))
    elif name == "background":
        yield "background-image", _pick(words, lambda word: word.type == "url" or _is_function(word, "background-image")) or _NONE
        yield "background-color", _pick(words, is_colour) or _TRANSPARENT
        if clip := _pick(words, lambda word: word.type == "ident" and word.lower_value == "text"):
            yield "background-clip", clip
    elif name == "mask":
        yield "mask-image", _pick(words, lambda word: word.type == "url" or _is_function(word, "mask-image")) or _NONE
    elif name == "font":
        yield from _split_font(words)
    elif name == "animation":
        yield "animation-fill-mode", _pick(words, lambda word: _is_word(word, "animation-fill-mode")) or _NONE
        yield "animation-name", [word for word in words if word.type in ("ident", "string")]
    elif name == "flex-flow":
        yield "flex-direction", _pick(words, lambda word: _is_word(word, "flex-direction")) or _ROW
    else:
        first = words[0]
        yield "flex-grow", [first] if first.type == "number" else _ONE if _is_ident(first, "auto") else _ZERO


def _split_font(words: list[Node]) -> Iterator[tuple[str, Tokens]]:
    slash = next((place for place, word in enumerate(words) if word.type == "literal" and word.value == "/"), None)
    sizes = (word for word in words if word.type in ("dimension", "percentage", "number") and not _is_weight(word))
    size = [words[slash - 1]] if slash else [word for word, _ in zip(sizes, range(1), strict=False)]
    if size:
        yield "font-size", size
    yield "line-height", [words[slash + 1]] if slash and slash + 1 < len(words) else _NORMAL


def _is_weight(word: Node) -> bool:
    return bool(word.type == "number" and word.value >= 1)


def _pick(words: list[Node], fits: Callable[[Node], bool]) -> list[Node]:
    return [word for word in words if fits(word)][:1]


def _is_known(name: str, value: Tokens) -> bool:
    if name in _KEYWORDS:
        return all(_is_word(word, name) for word in value)
    if name in _COLOURS:
        return len(value) == 1 and is_colour(value[0])
    if name in _LENGTHS:
        return (measure(value) is not None and _has_unit(name, value[0])) or (len(value) == 1 and _is_size_word(value[0]))
    if name in _FUNCTIONS:
        return all(_is_function(word, name) or word.type in ("url", "literal") or _is_function_word(word) for word in value)
    return True


def _has_unit(name: str, word: Node) -> bool:
    """Say whether a length is one. A browser takes one without a unit in old pages only; what hides is believed of it."""
    return name in _UNITLESS or word.type != "number" or word.value <= 1


def _is_size_word(word: Node) -> bool:
    return (word.type == "ident" and word.lower_value in _SIZE_WORDS) or (
        word.type == "function" and word.lower_name == "fit-content"
    )


def _is_word(word: Node, name: str) -> bool:
    return bool(word.type == "ident" and word.lower_value in _KEYWORDS[name])


def _is_ident(word: Node, value: str) -> bool:
    return bool(word.type == "ident" and word.lower_value == value)


def _is_function(word: Node, name: str) -> bool:
    return bool(word.type == "function" and word.lower_name in _FUNCTIONS[name])


def _is_function_word(word: Node) -> bool:
    return bool(word.type == "ident" and word.lower_value in _FUNCTION_WORDS)


_NONE, _TRANSPARENT, _ROW, _ONE, _ZERO, _NORMAL = map(
    tinycss2.parse_component_value_list, ("none", "transparent", "row", "1", "0", "normal")
)
