"""Whether a question describes what it asks about instead of naming it: then that has to be found first, in another passage."""

import re

_RELATIVE = r"(?<=[\w,] )(?<!and )(?:that|which|whom|who|whose|where)\b"
_ASKED_LAST = r"\b(?:in|of|by|for|from) what\b"
_CALLED = r"\b(?:named after|known (?:as|for)|called|titled|nicknamed|based on)\b"
_OF = r"(?:of|behind|by|from|in|for|as|with)"
_PARTY = rf"\b(?:did|does|do|has|have|had|by|from|to|with) the (?![A-Z][\w'’-]* [A-Z])(?:[\w'’-]+ ){{1,4}}?{_OF} [\"“'‘]?[A-Z]"
_DESCRIBED = rf"(?<!is )(?<!was )(?<!are )(?<!were )\bthe (?:[\w'’-]+ ){{1,5}}?{_OF} (?:the|an?) "
_TWICE = r"\bthe (?:[\w'’-]+ ){1,4}?of the (?:[\w'’-]+ ){1,4}?(?:with|of|by|from|in) the "
_NESTED = re.compile("|".join((_RELATIVE, _ASKED_LAST, _CALLED, _PARTY, _DESCRIBED, _TWICE, r"^\W*[Ww]hich of\b")))


def is_nested(question: str) -> bool:
    """Whether a part of a question is a question of its own: "the author of The Selfish Gene", "a film that was shot in"."""
    return _NESTED.search(question) is not None
