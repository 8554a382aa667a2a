"""What is typed into a form and not sent yet, kept by the page's server: a reload or another tab shows it again.

It is kept for whoever typed it, in memory: who has nothing kept, as after the server was started anew, finds what the API has.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from ui.session import me

T = TypeVar("T")
MOST = 500  # forms of some kB each; the one that was longest left alone goes first


class Draft(NamedTuple):
    """What was typed, and what it was typed over: once that has changed, the draft is out of date."""

    over: Any
    typed: Any


class Drafts:
    """The newest drafts of all visitors, by person and form. Sessions run in threads of their own."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held: OrderedDict[tuple[str, str], Draft] = OrderedDict()
        self._lock = Lock()

    def get(self, person: str, form: str) -> Draft | None:
        """What the person has in that form, or None."""
        with self._lock:
            return self._held.get((person, form))

    def put(self, person: str, form: str, draft: Draft | None) -> None:
        """Keep this, or None to let go of what is kept."""
        with self._lock:
            self._held.pop((person, form), None)
            if draft is not None:
                self._held[person, form] = draft
            while len(self._held) > self._most:
                self._held.popitem(last=False)


@st.cache_resource(show_spinner=False)
def _drafts() -> Drafts:
    return Drafts()


def found(form: str, over: T) -> T | None:
    """What the visitor typed into this form over the same thing, before a reload say; else None."""
    draft = _drafts().get(_person(), form)
    if draft is None or draft.over != over:
        return None
    typed: T = draft.typed
    return typed


def keep(form: str, over: T, typed: T) -> None:
    """Keep what the form holds now; nothing where that is what it was opened with."""
    _drafts().put(_person(), form, Draft(over, typed) if typed != over else None)


def forget(form: str) -> None:
    """What was typed has been sent."""
    _drafts().put(_person(), form, None)


def _person() -> str:
    who = me()
    return f"{who.organisation.id}/{who.user_id}" if who else ""
