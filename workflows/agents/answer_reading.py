"""Reading a step's answer from a model's text: strictly first, then with tolerance where that changes no meaning."""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import ValidationError

from app.domain.errors import AnswerInvalid
from app.domain.query import Language
from app.domain.safe_text import make_safe
from workflows.agents.failures import refuse_answer
from workflows.agents.parsing import find_json_values, parse_leniently, read_answer_tag, remove_fence, remove_thinking
from workflows.agents.steps import Step, StepAnswer
from workflows.checks.answer_faults import count_words

A = TypeVar("A", bound=StepAnswer)
SHOWN_ERRORS = 3
LONGER_BY, LEAST_MOST_WORDS = 3, 1_000
"""How many times longer than asked a text may be, and the length up to which no text is too long."""


def read_answer(step: Step[A], text: str) -> A:
    """Return the step's answer.

    Raises:
        AnswerInvalid: no reading of the text has the required form; the message tells the model what is wrong.
    """
    try:
        answer = step.answer.model_validate_json(text)
        if answer.model_fields_set and not text.lstrip().startswith("["):  # a list may be one of calls of tools
            return answer
    except ValidationError:
        pass
    return _read_tolerantly(step, text)


def _read_tolerantly(step: Step[A], text: str) -> A:
    problem = "there is no JSON object in the answer" if text.strip() else "the answer is empty"
    for value in _list_readings(step, remove_thinking(text)):
        try:
            answer = step.answer.model_validate(value)
        except ValidationError as error:
            problem = _describe_error(error)
            continue
        if answer.model_fields_set:
            return answer
        problem = f"none of the fields {', '.join(step.answer.model_fields)} is in the answer"
    raise AnswerInvalid(problem)


def _list_readings(step: Step[A], said: str) -> Iterator[Any]:
    loose = step.loose(said)
    if loose is not None:
        yield loose
    for value in find_json_values(said):
        arguments = _read_arguments(value)
        yield value if arguments is None else arguments


def _read_arguments(value: Any) -> Any:
    """Return the arguments of a call of a tool, alone or in a list; None where a value is none."""
    call = value[0] if isinstance(value, list) and len(value) == 1 else value
    call = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(call, dict) or "name" not in call:
        return None
    arguments = call.get("arguments", call.get("parameters"))
    return parse_leniently(arguments) if isinstance(arguments, str) else arguments


def _describe_error(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:SHOWN_ERRORS])


def read_text(text: str) -> str:
    """Return free Markdown from a model's text, without thinking, tags, an enclosing fence or a JSON wrapper.

    Raises:
        AnswerInvalid: nothing is left.
    """
    said = remove_thinking(text)
    inside = read_answer_tag(said)
    said = remove_fence(said if inside is None else inside)
    if said.startswith("{"):
        said = _unwrap_json(said)
    said = make_safe(said).strip()
    if not said:
        raise AnswerInvalid("the answer is empty")
    return said


def _unwrap_json(text: str) -> str:
    """Return the longest string of a JSON object that was written around the text."""
    value = parse_leniently(text)
    strings = [v for v in value.values() if isinstance(v, str)] if isinstance(value, dict) else []
    return max(strings, key=len, default=text)


def check_length(text: str, words: int, language: Language) -> None:
    """Check that a text is not far longer than the `words` that were asked for.

    Raises:
        AnswerInvalid: it is; the message tells the model how long it may be.
    """
    n, most = count_words(text), max(LEAST_MOST_WORDS, LONGER_BY * words)
    if n > most:
        raise refuse_answer("too_long", language, n=n, words=words, most=most)
