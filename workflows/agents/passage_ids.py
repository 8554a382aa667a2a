"""Passage ids in texts: `<snippet id="p3" ...>` where a passage is shown; `[p3]`, `[p3, p7]` where an agent cites, and in
DeepRubric's notation `<cite id="p3">...</cite>`. Words of sources cannot imitate any of them (`untrusted`).
"""

import re

_LIST = r"\s*(p\d{1,6}(?:\s*[,;，、]\s*p\d{1,6})*)\s*"
_BRACKETED = re.compile(rf"[\[【]{_LIST}[\]】]", re.IGNORECASE)
_PARENTHESISED = re.compile(rf"[(（]{_LIST}[)）]", re.IGNORECASE)
_CITE_SPAN = re.compile(r'<cite\s+id\s*=\s*"([^"<>]{0,200})"\s*>(.*?)</cite>', re.DOTALL | re.IGNORECASE)
_CLOSE = re.compile("</cite>", re.IGNORECASE)
_ID = re.compile(r"p\d{1,6}", re.IGNORECASE)
_SNIPPET = re.compile(r'<snippet id="(p\d+)"')
_SHOWN = re.compile(r'<snippet id="p\d+" title="([^"]*)"[^>]*>\n(.*?)\n</snippet>', re.DOTALL)


def list_snippets(text: str) -> list[str]:
    """Return the ids of the passages that a text shows, in order."""
    return _SNIPPET.findall(text)


def list_snippet_texts(text: str) -> list[str]:
    """Return title and words of each passage that a text shows, in order."""
    return [words for shown in _SHOWN.findall(text) for words in shown]


def list_shown_passages(text: str) -> tuple[str, ...]:
    """Return the ids that whoever reads the text learns, each once: of passages that it shows, then those that it cites."""
    return tuple(dict.fromkeys((*list_snippets(text), *list_cited_passages(text))))


def list_cited_passages(text: str) -> tuple[str, ...]:
    """Return the ids that a text cites, each once, in order."""
    found = citation_pattern_of(text).findall(text)
    return tuple(dict.fromkeys(name.lower() for group in found for name in _ID.findall(group)))


def citation_pattern_of(text: str) -> re.Pattern[str]:
    """Return the pattern of a text's citations: brackets, or parentheses where it has none; a protein may be called (p53)."""
    return _BRACKETED if _BRACKETED.search(text) else _PARENTHESISED


def flatten_cite_spans(text: str) -> str:
    """Turn `<cite id="p3">words</cite>` into `words [p3]`; a span without a passage id keeps its words only."""

    def flat(match: re.Match[str]) -> str:
        names = ", ".join(_ID.findall(match.group(1)))
        return f"{match.group(2)} [{names}]" if names else match.group(2)

    # Behind the last closing tag there is no span, and each of many open tags would be followed to the end.
    end = max((found.end() for found in _CLOSE.finditer(text)), default=0)
    return _CITE_SPAN.sub(flat, text[:end]) + text[end:]


def split_at_citations(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Cut the text after each citation. Return each piece without its citation, with the cited ids; the last may have none."""
    pieces: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    for found in citation_pattern_of(text).finditer(text):
        pieces.append((text[at : found.start()], tuple(name.lower() for name in _ID.findall(found.group(1)))))
        at = found.end()
    return [*pieces, (text[at:], ())]
