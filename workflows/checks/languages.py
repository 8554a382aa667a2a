"""Sentences in another language than the report's (MindDR section 6.3: language inconsistency).

Foreign words are allowed in quotations, titles, brackets, links, emphasis, code, formulas and block quotes. In English text all
other ideographs are a mistake; Chinese text always has Latin names and terms, so only whole foreign sentences count there.
"""

import re
from collections.abc import Iterator

from markdown_it.token import Token

from app.domain.citations import MARKER
from app.domain.query import Language
from app.domain.script import count_ideographs
from retrieval.language.sentences import list_sentences
from workflows.checks.citation_format import split_off_sources
from workflows.checks.markdown import parse_markdown

SENTENCE_WORDS, PLAIN_WORDS = 8, 5
"""A sentence of a Chinese text is foreign with this many English words, this many of them in lower case, and few ideographs."""
FEW_IDEOGRAPHS = 0.15
SLIP_IDEOGRAPHS = 2
_ALLOWED = re.compile(
    r"“[^”]*”|\"[^\"\n]*\"|‘[^’]*’|「[^」]*」|『[^』]*』|《[^》]*》|\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|https?://\S+|\$[^$\n]+\$"
)
_FORMULA = re.compile(r"\\[A-Za-z]+|[_^]\{|\w+/\w+/\w+|\{\s*\"")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
_SET_APART = {"em_open": 1, "em_close": -1, "link_open": 1, "link_close": -1}


def find_language_breaks(markdown: str, language: Language) -> list[str]:
    """Return the sentences of a report in another language; its headings and its list of sources do not count."""
    is_foreign = _is_foreign_in_chinese if language is Language.CHINESE else _is_foreign_in_english
    return [sentence for sentence in prose_of(split_off_sources(markdown).body) if is_foreign(_ALLOWED.sub(" ", sentence))]


def prose_of(markdown: str) -> Iterator[str]:
    """Yield the sentences of a text's paragraphs, list items and table cells, without emphasised and linked words."""
    quoted = heading = 0
    for token in parse_markdown(MARKER.sub("", markdown)):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        heading += {"heading_open": 1, "heading_close": -1}.get(token.type, 0)
        if token.type == "inline" and not quoted and not heading:
            text = _text_outside_marks(token.children or [])
            yield from list_sentences(text)


def _text_outside_marks(children: list[Token]) -> str:
    apart, pieces = 0, list[str]()
    for child in children:
        apart += _SET_APART.get(child.type, 0)
        if not apart:
            pieces.append(child.content if child.type == "text" else "\n" if child.type in ("softbreak", "hardbreak") else " ")
    return "".join(pieces)


def _is_foreign_in_chinese(text: str) -> bool:
    words = _WORD.findall(text)
    plain = sum(word.islower() for word in words)
    few = count_ideographs(text) < FEW_IDEOGRAPHS * len(words)
    return len(words) >= SENTENCE_WORDS and plain >= PLAIN_WORDS and few and not _FORMULA.search(text)


def _is_foreign_in_english(text: str) -> bool:
    return count_ideographs(text) >= SLIP_IDEOGRAPHS
