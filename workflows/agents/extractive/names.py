"""Names in running text: stretches of capitalised words, and titles in Chinese title marks. No model, so some are missed."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from app.domain.evidence import Source
from retrieval.language.stems import is_irregular
from workflows.agents.extractive.words import FUNCTION_WORDS, Word, is_ideographic, listed, words

_WORD = r"(?:[A-ZÀ-ÖØ-Þ]\.)+|(?:St|Mt|Dr|Jr|Sr)\.|[A-ZÀ-ÖØ-Þ][\w'’\-–]*"
_LINK = r"(?:of|the|de|von|van|del|della|der|la|le|for|di|da|du|el|al|&)"
_NAME = re.compile(rf"(?<!\w)(?:{_WORD})(?:\s+(?:{_LINK}\s+){{0,2}}(?:{_WORD}|\d[\w\-–]*))*")
_SENTENCE_END = re.compile(r"(?:^|[.!?。:;]['\"”’)]*\s+|\n\s*)['\"“‘(]*$")
_HAN_TITLE = re.compile(r"[《「“]([^《》「」“”\n]{2,40})[》」”]")
_EDGE = " .,'’-–"
_BRACKETED = re.compile(r"\s*[(（][^()（）]*[)）]")
_MONTHS = frozenset(
    listed("""
        january february march april may june july august september october november december monday tuesday wednesday
        thursday friday saturday sunday mr mrs ms dr although however since because american british english french
        german
    """)
)


def names(text: str) -> list[str]:
    """The names in a text, in order of first appearance, each once. A single word that only ever begins a sentence is no name."""
    found: dict[str, bool] = {}
    for match in _NAME.finditer(text):
        name = _tidied(match.group())
        starts = (
            match.group().startswith(name) and _SENTENCE_END.search(text, max(0, match.start() - 8), match.start()) is not None
        )
        sure = " " in name or not starts
        found[name] = found.get(name, False) or sure
    found.update((match.group(1), True) for match in _HAN_TITLE.finditer(text) if not match.group(1).isascii())
    return [name for name, sure in found.items() if sure and (len(name) > 2 or not name.isascii())]


def _tidied(name: str) -> str:
    """A name without a leading article or a trailing possessive; empty when nothing else is left."""
    parts = name.strip(_EDGE).split()
    while parts and parts[0].lower().strip(_EDGE) in FUNCTION_WORDS | _MONTHS:
        parts = parts[1:]
    return re.sub(r"['’]s$", "", " ".join(parts)).strip(_EDGE)


def bare_title(title: str) -> str:
    """A title without what stands in brackets: `Hello Love (song)` is about `Hello Love`."""
    return _BRACKETED.sub("", title).strip() or title.strip()


def names_topic(source: Source) -> bool:
    """Whether a title may name what its source is about: one that holds its author or its date names a document."""
    title, published = source.title.lower(), source.published
    dated = published is not None and str(published.year) in title
    return not dated and not (source.author and source.author.lower() in title)


def head_of(title: str) -> str:
    """A title up to its comma: `Montebello, New York` is about Montebello."""
    return bare_title(title).partition(",")[0]


def holds_name(terms: Sequence[str], name: frozenset[str]) -> bool:
    """Whether all terms of a name stand together, in any order: "United States Bank" too. One other may part a name of two."""
    window = len(name) + (len(name) == 2)
    return any(name.issubset(terms[start : start + window]) for start in range(max(1, len(terms) - window + 1)))


def as_itself(text: str, subject: AbstractSet[str], as_noun: bool) -> bool:
    """Whether a text that holds terms of a subject holds one outside names of several words (the Secretary of War); `as_noun`:
    and not only before another noun, of which it then says the kind (war debts)."""
    found = words(text)
    own = [
        (word, after)
        for word, after in zip(found, [*found[1:], None], strict=True)
        if word.term in subject and not is_ideographic(word.text)
    ]
    spans = [match.span() for match in _NAME.finditer(text) if " " in match.group()]
    outside = [pair for pair in own if not any(start <= pair[0].start < end for start, end in spans)]
    return not own or any(not (as_noun and _qualifies(text, *pair, subject)) for pair in outside)


def _qualifies(text: str, word: Word, after: Word | None, subject: AbstractSet[str]) -> bool:
    if after is None or not after.term or after.term in subject or text[word.end : after.start] not in (" ", "-"):
        return False
    return after.text.islower() and not after.text.endswith(("ed", "ing", "ly")) and not is_irregular(after.text)
