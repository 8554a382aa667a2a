"""Completes an answer with the fields that a test leaves out, because it is not about them, and the API always sends."""

import enum
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from tests.client.client_calls import list_functions, make_example_request

PLACE = re.compile(r"given-\w+|(?<=/)\d+(?=/|$)")
NEUTRAL: Mapping[type, Any] = {str: "", int: 0, float: 0.0, bool: False}
DAY = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def complete_answer(method: str, path: str, given: Any) -> Any:
    """Complete the answer of a route with its required fields; leave it where the client has no such route."""
    kinds = [kind for verb, pattern, kind in _list_routes() if verb == method and pattern.fullmatch(path)]
    return fill_in(kinds[0], given) if kinds else given


@cache
def _list_routes() -> Sequence[tuple[str, re.Pattern[str], type]]:
    requests = [make_example_request(function) for _, function in list_functions()]
    return [(r.method, re.compile(PLACE.sub("[^/]+", r.path)), r.answer) for r in requests if issubclass(r.answer, BaseModel)]


def fill_in(kind: Any, given: Any) -> Any:
    """Complete the values of a model with neutral values for missing required fields, at any depth."""
    if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(given, dict):
        fields = kind.model_fields
        there = {name: fill_in(fields[name].annotation, value) if name in fields else value for name, value in given.items()}
        return there | {
            name: _neutral_value_of(field.annotation)
            for name, field in fields.items()
            if field.is_required() and name not in given
        }
    if get_origin(kind) in (Union, UnionType):
        models = [part for part in get_args(kind) if isinstance(part, type) and issubclass(part, BaseModel)]
        return fill_in(models[0], given) if models else given
    if get_origin(kind) is Sequence and isinstance(given, list | tuple):
        return [fill_in(get_args(kind)[0], each) for each in given]
    if get_origin(kind) is Mapping and isinstance(given, dict):
        return {name: fill_in(get_args(kind)[1], each) for name, each in given.items()}
    return given


def _neutral_value_of(kind: Any) -> Any:
    if NoneType in get_args(kind):
        return None
    if get_origin(kind) in (Sequence, Mapping):
        return [] if get_origin(kind) is Sequence else {}
    if issubclass(kind, BaseModel):
        return fill_in(kind, {})
    if issubclass(kind, enum.Enum):
        return next(iter(kind)).value
    return DAY.isoformat() if issubclass(kind, datetime) else DAY.date().isoformat() if issubclass(kind, date) else NEUTRAL[kind]
