"""A draft of the served prompt as rewards and scores read it: strictly, and with its citations in the form that rewards know.

The writer cites passages as [q3]; rewards read [p3]. Both letters change places, so that [p3], for which the writer was not
asked, stays a notation of its own.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from training.rewards.against_reference import list_citations
from training.rewards.notations import Notation, read_schema, read_tags
from training.rewards.violations import number_citations
from workflows.agents.parsing import remove_thinking
from workflows.agents.passage_ids import citation_pattern_of, list_cited_passages
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT

_LIST = r"\s*[pq]\d{1,6}(?:\s*[,;，、]\s*[pq]\d{1,6})*\s*"
_CITED = re.compile(rf'[\[(【]{_LIST}[\])】]|<cite\s+id\s*=\s*"{_LIST}"\s*>', re.IGNORECASE)
_PARENTHESISED = re.compile(r"[(（]\s*q.*[)）]", re.IGNORECASE)
_LETTER = re.compile(r"[pq](?=\d)", re.IGNORECASE)


def read_draft(output: str, notation: Notation) -> str:
    """Return the report of an output: the text in its one answer tag, or the whole text where no tags were asked for.

    Empty where there is no such tag, more than one, or an open one.
    """
    read = read_tags(output, ()) if notation is Notation.TAGS else read_schema(remove_thinking(output), WHOLE_REPORT.name, ())
    answers = [block.text for block in read.blocks if block.tag == "answer"]
    return answers[0].strip() if len(answers) == 1 else ""


def swap_letters(draft: str) -> str:
    """Write the cited [q3] or (q3) as [p3], and [p3] as [q3]."""

    def swap(found: re.Match[str]) -> str:
        cited = _LETTER.sub(lambda letter: "p" if letter[0] in "qQ" else "q", found[0])
        return f"[{cited[1:-1]}]" if _PARENTHESISED.fullmatch(found[0]) else cited

    return _CITED.sub(swap, draft)


def name_for_rewards(ids: Iterable[str]) -> list[str]:
    """Return the ids that a writer was shown as rewards read them."""
    return [f"p{name[1:]}" for name in ids]


def number_quotes(draft: str, ids: Iterable[str]) -> str:
    """Return a draft as its reader sees it: with numbers for the ids that the writer was shown. Others stay as they are."""
    return number_citations(swap_letters(draft), name_for_rewards(ids))


def mark_quotes(draft: str) -> str:
    """Return a draft as checks of the product read it: each cited id in a marker of its own, as [[q3]]."""
    swapped = swap_letters(draft)

    def mark(found: re.Match[str]) -> str:
        return "".join(f"[[q{name[1:]}]]" for name in list_cited_passages(found[0]))

    return citation_pattern_of(swapped).sub(mark, swapped)


def list_quote_citations(draft: str) -> list[tuple[str, str]]:
    """Return each cited statement of a draft with each quote id that it cites."""
    return [(statement, f"q{name[1:]}") for statement, name in list_citations(swap_letters(draft))]


def keep_known(citations: Sequence[tuple[str, str]], ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the different citations of ids that the writer was shown."""
    return list(dict.fromkeys(each for each in citations if each[1] in ids))
