"""Drafts: what visitors have typed into forms and not sent yet. A reload or another tab shows them again.

A draft belongs to the person who typed it. The page's server keeps it in memory: after a restart the forms show what the API has.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from ui.session import get_me

T = TypeVar("T")
MOST_DRAFTS = 500  # forms of some kB each; the draft that was stored first is dropped first


class FormDraft(NamedTuple):
    """What was typed, and what the form was opened with: once the latter has changed, the draft is out of date."""

    over: Any
    typed: Any


class FormDrafts:
    """The newest drafts of all visitors, by person and form. A lock guards them, because each session runs in its own thread."""

    def __init__(self, most: int = MOST_DRAFTS) -> None:
        self._most = most
        self._held: OrderedDict[tuple[str, str], FormDraft] = OrderedDict()
        self._lock = Lock()

    def get(self, person: str, form: str) -> FormDraft | None:
        """Return the draft of this person in this form, or None."""
        with self._lock:
            return self._held.get((person, form))

    def put(self, person: str, form: str, draft: FormDraft | None) -> None:
        """Store a draft; None removes the one that is stored."""
        with self._lock:
            self._held.pop((person, form), None)
            if draft is not None:
                self._held[person, form] = draft
            while len(self._held) > self._most:
                self._held.popitem(last=False)


@st.cache_resource(show_spinner=False)
def _get_drafts() -> FormDrafts:
    return FormDrafts()


def find(form: str, over: T) -> T | None:
    """Return what the visitor typed into this form, for instance before a reload; None if it was opened with something else."""
    draft = _get_drafts().get(_identify_visitor(), form)
    if draft is None or draft.over != over:
        return None
    typed: T = draft.typed
    return typed


def keep(form: str, over: T, typed: T) -> None:
    """Store what the form holds now; nothing if that is what the form was opened with."""
    _get_drafts().put(_identify_visitor(), form, FormDraft(over, typed) if typed != over else None)


def forget(form: str) -> None:
    """Remove the draft of this form, because it was sent."""
    _get_drafts().put(_identify_visitor(), form, None)


def _identify_visitor() -> str:
    who = get_me()
    return f"{who.organisation.id}/{who.user_id}" if who else ""
