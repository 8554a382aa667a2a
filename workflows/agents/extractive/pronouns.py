"""What "it" and "they" stand for in a question, where the words before it name one thing only."""

import re

from workflows.agents.extractive.names import names

_PRONOUN = re.compile(r"\b(?:its|their|his|her|it|they|them|he|him|she)\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:this|that|these|those|there|hers|theirs|itself|themselves|himself|herself)\b|[它他她这那其]", re.IGNORECASE
)
"""What points back and may mean anything that was said."""
_OWNING = frozenset(("its", "their", "his"))
_BE, _DO = r"(?:is|are|was|were)", r"(?:did|do|does|has|have|is|are|was|were|can|will)"
_NOUN = r"(?P<noun>(?:(?:the|an?)\s+)?[\w'’-]+(?:\s+(?!of\b|and\b|or\b|in\b|to\b)[\w'’-]+){0,2}?)"
_SHAPES = (
    re.compile(rf"^\W*(?:what|who)\s+{_BE}\s+{_NOUN}\W*$", re.IGNORECASE),
    re.compile(rf"^\W*(?:how|why|when|where)\s+{_DO}\s+{_NOUN}\s+[\w'’-]+\W*$", re.IGNORECASE),
    re.compile(
        rf"^\W*(?:how|why|when)\s+{_DO}\s+(?P<noun>(?:the|an?)\s+[\w'’-]+(?:\s+[\w'’-]+)??)\s+"
        r"(?:change|develop|evolve|differ|grow|shrink|work|begin|start|end|spread|fall|rise|fail|succeed|expand|decline)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*what\s+(?:causes|caused)\s+{_NOUN}\W*$", re.IGNORECASE),
)
"""What is schizophrenia; how does malaria spread; how did the army change after the war; what causes gout."""


def points_back(text: str) -> bool:
    """Whether a question points back to something said before it."""
    return _PRONOUN.search(text) is not None or _OTHERS.search(text) is not None


def named_for(question: str, before: str) -> str:
    """A question with what its pronouns stand for in their place; as it is, where the words before it leave that open."""
    noun = _only_thing(before)
    if not noun or _OTHERS.search(question):
        return question
    return _PRONOUN.sub(lambda pronoun: _in_place(noun, pronoun.group().lower()), question)


def _only_thing(before: str) -> str:
    """The one thing that a text names or asks about; empty where there is none, or more than one."""
    shapes = (shape.match(before) for shape in _SHAPES)
    if noun := next((match["noun"] for match in shapes if match), ""):
        return noun
    found = names(before)
    if len(found) != 1:
        return ""
    article = re.search(rf"\bthe\s+{re.escape(found[0])}", before, re.IGNORECASE)
    return f"the {found[0]}" if article else found[0]


def _in_place(noun: str, pronoun: str) -> str:
    if pronoun not in _OWNING:
        return noun
    return f"{noun}'" if noun.endswith("s") else f"{noun}'s"
