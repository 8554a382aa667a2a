"""The language of the page and all its texts: one table of wordings for each language, in `wording/`."""

import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

LANGUAGES = {"en": "English", "zh": "中文"}
DEFAULT = "en"
LANGUAGE_COOKIE = "rubrica_language"
TABLES = Path(__file__).parent / "wording"


def choose() -> None:
    """Settle the visitor's language for this session."""
    if "language" not in st.session_state:
        st.session_state["language"] = pick_language(st.context.cookies, st.context.locale or "")


def pick_language(cookies: Mapping[str, str], preferred: str) -> str:
    """Return the language chosen on an earlier visit, else the browser's first preference, else English."""
    wish = cookies.get(LANGUAGE_COOKIE) or re.split(r"[-,;]", preferred, maxsplit=1)[0].strip().lower()
    return wish if wish in LANGUAGES else DEFAULT


def get_language() -> str:
    """Return the language of the present visitor; the default outside a visit."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return DEFAULT
    return str(st.session_state.get("language", DEFAULT))


def say(key: str, **values: object) -> str:
    """Return the wording of this key (`page.name`) with the values put in. It is plain text: escape it before it goes into HTML.

    Raises:
        KeyError: the table has no such key; a test compares tables and calls.
    """
    return load_table(get_language())[key].format(**values)


def say_count(noun: str, n: int) -> str:
    """Return a number with its noun: `count("search", 2)` is "2 searches"."""
    one, _, many = load_table(get_language())[f"count.{noun}"].partition(" | ")
    return (one if n == 1 or not many else many).format(n=f"{n:,}")


def say_name(group: str, value: str) -> str:
    """Return the name of a value of a closed set, such as a status.

    A value that the table does not know is its own name.
    """
    return load_table(get_language()).get(f"{group}.{value}", value.replace("_", " "))


def say_time(moment: datetime, form: str = "minute") -> str:
    """Return a moment in the visitor's own time zone, as `minute`, `second`, `short` or `day`."""
    local = moment.astimezone(_find_zone())
    month = load_table(get_language())[f"date.month{local.month}"]
    return say(f"date.{form}", day=local.day, month=month, year=local.year, time=f"{local:%H:%M}", seconds=f"{local:%S}")


def _find_zone() -> ZoneInfo:
    name = st.context.timezone if get_script_run_ctx(suppress_warning=True) else None
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


@cache
def load_table(language: str) -> Mapping[str, str]:
    """Return all wordings of a language by `section.name`."""
    sections = tomllib.loads((TABLES / f"{language}.toml").read_text("utf-8"))
    return {f"{section}.{name}": text for section, texts in sections.items() for name, text in texts.items()}
