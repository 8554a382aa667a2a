"""The two sides of a comparison that are no names: "aspirin and clopidogrel", "mRNA vaccines ... from traditional vaccines"."""

import re

_SIDE = r"(?P<{name}>[^,;?]+?)"
_END = r"(?=[,;?.]|\s+(?:for|in|on|as|when|at|to|during|among|with regard|by|with respect|regarding|concerning)\b|\s*$)"


def _shape(pattern: str) -> re.Pattern[str]:
    one, other = _SIDE.format(name="one"), _SIDE.format(name="other")
    return re.compile(pattern.format(one=one, other=other) + _END, re.IGNORECASE)


_SHAPES = (
    _shape(r"\b(?:compare|contrast)\s+{one}\s+(?:and|with|to|versus|vs\.?|against)\s+{other}"),
    _shape(r"\bdifferences?\s+between\s+{one}\s+and\s+{other}"),
    _shape(r"\bhow\s+(?:do|does|did|is|are|was|were)\s+{one}\s+differ(?:s|ent)?\s+from\s+{other}"),
    _shape(r"\b(?:is|are|was|were)\s+{one}\s+(?:better|worse|safer|more \w+|less \w+)\s+than\s+{other}"),
    _shape(r"^\s*{one}\s+(?:versus|vs\.?)\s+{other}"),
    re.compile(r"(?:比较)?(?P<one>[^，。？和与]{2,12})[和与](?P<other>[^，。？的]{2,12}?)(?:之间)?的?(?:区别|差异|不同)"),
)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)


def sides_of(text: str) -> tuple[str, ...]:
    """The two sides as they are written, without articles; empty where no form of comparison is recognised."""
    for shape in _SHAPES:
        match = shape.search(text)
        if match:
            return tuple(_ARTICLE.sub("", match.group(name).strip()) for name in ("one", "other"))
    return ()
