"""The words of a question: a model says the conditions, and code checks what it wrote.

The model sees the whole subgraph. The question must say each condition, and name neither the answer nor anything on the way.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from app.domain.query import detect_language
from retrieval.language.quantities import QuantityKind, read_quantities
from retrieval.language.tokens import list_stems
from training.synthesis.graph_queries.conditions import Condition, ConditionKind
from training.synthesis.graph_queries.naming import find_told, fold_in_place
from workflows.agents.kit import Kit
from workflows.agents.steps import Step, StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

TRIES = 2
LONGEST_QUESTION = 1_200
AMOUNT_TOLERANCE = 0.02
_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_CENTURY_DECADE_ZH = re.compile(r"(\d{2})世纪(\d0)年代")
_SHORT_DECADE_ZH = re.compile(r"(?<!\d)(\d{2})(\d0)年代")


class PhraseAnswer(StepAnswer):
    """Where the question says a condition."""

    condition: str = Field(default="", description="the condition's id, such as c2")
    phrase: str = Field(default="", description="the words of the question that say it, copied exactly")


class WordingAnswer(StepAnswer):
    """A question, with the place of each condition."""

    question: str = Field(default="", description="the question")
    phrases: tuple[PhraseAnswer, ...] = Field(default=(), description="one for each condition")


QUESTION = declare_step("graph_question", WordingAnswer, max_tokens=1_200)
REWORDING = declare_step("graph_rewording", WordingAnswer, max_tokens=1_200)


class HiddenNames(NamedTuple):
    """What stands behind the variables of the conditions: a name each; `hidden` are all names that would tell one of them."""

    names: dict[str, str]
    hidden: tuple[str, ...]
    removed: tuple[Condition, ...] = ()


class WordedQuestion(NamedTuple):
    """A question, and its conditions with their phrases."""

    question: str
    conditions: tuple[Condition, ...]


async def write_question(
    kit: Kit, conditions: Sequence[Condition], meant: HiddenNames, before: str = ""
) -> WordedQuestion | Missing:
    """Write a question for these conditions, or reword one that was written before some of them changed.

    A question with a fault is written once more, with the fault told; missing if there still is one.
    """
    shown = {"conditions": "\n".join(map(show_condition, conditions)), "names": _show_names(meant.names)}
    shown["hidden"] = "\n".join(meant.hidden)
    step: Step[WordingAnswer] = QUESTION
    if before:
        step, shown["question"] = REWORDING, before
    fault = "-"
    for _ in range(TRIES):
        said = await ask_judge(kit, step, lambda answer: answer, fault=fault, **shown)
        if isinstance(said, Missing):
            return said
        phrases = {one.condition.strip().strip("[]").lower(): one.phrase for one in said.phrases}
        worded = tuple(c.model_copy(update={"phrase": phrases.get(c.id, "").strip()}) for c in conditions)
        question = " ".join(said.question.split())
        fault = find_wording_fault(question, worded, meant, kit)
        if not fault:
            return WordedQuestion(question, worded)
    return Missing(fault)


def show_condition(condition: Condition) -> str:
    """Return a condition as prompts show it: id, whom it is about, kind, value, and the sentence that states it."""
    sentence = condition.passage.text if condition.passage else "-"
    return " | ".join((condition.id, condition.about, condition.kind, say_value(condition), " ".join(sentence.split())))


def say_value(condition: Condition) -> str:
    """Return what a condition demands, in a few words."""
    if condition.low is None or condition.high is None:
        return condition.value or condition.to
    bounds = [f"{condition.low:.0f}"] if condition.low == condition.high else [f"{condition.low:.0f}", f"{condition.high:.0f}"]
    return f"{'-'.join(bounds)} {condition.value.replace('_', ' ')}".strip()


def _show_names(names: dict[str, str]) -> str:
    return "\n".join(f"{variable} = {name}" for variable, name in names.items())


def find_wording_fault(question: str, conditions: Sequence[Condition], meant: HiddenNames, kit: Kit) -> str:
    """Return what is wrong with a question; nothing if it may stand."""
    if not question or len(question) > LONGEST_QUESTION:
        return "the question is empty or too long"
    if detect_language(question) is not kit.language:
        return "the question is in another language"
    if told := find_told(meant.hidden, question):
        return f"the question names {told!r}"
    if any(_says_removed(question, removed, conditions) for removed in meant.removed):
        return "the question still says a clue that was weakened"
    if unsaid := _find_unsaid(question, conditions):
        return f"the question does not say condition {unsaid} by words of its own"
    unlike = next((condition.id for condition in conditions if not says_condition(condition)), "")
    return f"the phrase for condition {unlike} does not say it" if unlike else ""


def _find_unsaid(question: str, conditions: Sequence[Condition]) -> str:
    """Return the first condition whose phrase is not in the question, beside the phrases of all others."""
    left = _plain(question)
    for condition in sorted(conditions, key=lambda condition: -len(_plain(condition.phrase))):
        phrase = _plain(condition.phrase)
        if not phrase or phrase not in left:
            return condition.id
        left = left.replace(phrase, "|", 1)
    return ""


def _plain(text: str) -> str:
    return "".join(fold_in_place(text).split())


def _says_removed(question: str, removed: Condition, conditions: Sequence[Condition]) -> bool:
    """Say whether a question has an exact value that only a condition of before allowed."""
    if removed.low is None or removed.low != removed.high:
        return False
    if any(c.kind is removed.kind and removed.low in (c.low, c.high) for c in conditions):
        return False
    if removed.kind is ConditionKind.YEAR:
        return removed.low in map(float, _YEAR.findall(question))
    return any(_is_near(amount, removed.low, removed.low) for amount in _read_amounts(question))


def says_condition(condition: Condition) -> bool:
    """Say whether a condition's phrase says what it demands, as far as code can tell."""
    phrase = condition.phrase
    if condition.kind is ConditionKind.LINKED:
        return condition.passage is None or bool(set(list_stems(phrase)) & set(list_stems(condition.passage.text)))
    if condition.kind in (ConditionKind.NAMED, ConditionKind.PLACE):
        return _plain(condition.value) in _plain(phrase)
    if condition.low is None or condition.high is None:
        return True
    if condition.kind is ConditionKind.YEAR:
        return any(condition.low <= year <= condition.high for year in _read_years(phrase))
    return any(_is_near(amount, condition.low, condition.high) for amount in _read_amounts(phrase))


def _read_years(text: str) -> Iterable[float]:
    yield from map(float, _YEAR.findall(text))
    yield from ((int(century) - 1) * 100.0 + int(decade) for century, decade in _CENTURY_DECADE_ZH.findall(text))
    yield from (float(f"{century}{decade}") for century, decade in _SHORT_DECADE_ZH.findall(text))


def _read_amounts(text: str) -> Iterable[float]:
    for found in read_quantities(text):
        if found.kind in (QuantityKind.AMOUNT, QuantityKind.YEAR):
            yield from (found.value, found.written)


def _is_near(amount: float, low: float, high: float) -> bool:
    return low * (1 - AMOUNT_TOLERANCE) <= amount <= high * (1 + AMOUNT_TOLERANCE)
