"""The hold-out of an export, by query and by time: the newest queries are held out, each with all that was said of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from app.domain.split import HELD_OUT, Split, count_fewest


def name_query(question: str) -> str:
    """Return what two spellings of a question have in common: its words, in small letters."""
    return " ".join(question.casefold().split())


def hold_out_newest(asked: Iterable[tuple[str, datetime]], shares: Mapping[Split, float] = HELD_OUT) -> Mapping[str, Split]:
    """Return the side of each query by its name, from questions with the times at which they were asked.

    The newest share is held out for the first of `shares`, the one before it for the next: by default a tenth for the test, and a
    tenth for the validation. A query is as old as the first time it was asked.
    """
    first: dict[str, datetime] = {}
    for question, moment in asked:
        name = name_query(question)
        first[name] = min(first.get(name, moment), moment)
    newest = sorted(first, key=lambda name: (first[name], name), reverse=True)
    sides = dict.fromkeys(newest, Split.TRAIN)
    begin = 0
    for split, share in shares.items():
        end = begin + max(round(share * len(newest)), count_fewest(len(newest)))
        sides |= dict.fromkeys(newest[begin:end], split)
        begin = end
    return sides
