"""Which language the page speaks, and everything it says: one table of wordings a language, in `wording/`."""

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
COOKIE = "rubrica_language"
TABLES = Path(__file__).parent / "wording"


def choose() -> None:
    """Settle the visitor's language for this session: what was chosen before, else the browser's, else English."""
    if "language" not in st.session_state:
        st.session_state["language"] = wished(st.context.cookies, st.context.locale or "")


def wished(cookies: Mapping[str, str], preferred: str) -> str:
    """What was chosen before, else the first language that the browser prefers, else English."""
    wish = cookies.get(COOKIE) or re.split(r"[-,;]", preferred, maxsplit=1)[0].strip().lower()
    return wish if wish in LANGUAGES else DEFAULT


def current() -> str:
    """The language of whoever is being served; the default outside a visit."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return DEFAULT
    return str(st.session_state.get("language", DEFAULT))


def say(key: str, **values: object) -> str:
    """The wording of this key (`page.name`) with the values put in. It is plain text: escape it where HTML is made.

    Raises:
        KeyError: the table has no such key; a test compares tables and calls.
    """
    return table(current())[key].format(**values)


def count(noun: str, n: int) -> str:
    """A number with its noun: `count("search", 2)` is "2 searches"."""
    one, _, many = table(current())[f"count.{noun}"].partition(" | ")
    return (one if n == 1 or not many else many).format(n=f"{n:,}")


def named(group: str, value: str) -> str:
    """The name of one of a closed set of values, such as a status. A value that is newer than this page is shown as it is."""
    return table(current()).get(f"{group}.{value}", value.replace("_", " "))


def when(moment: datetime, form: str = "minute") -> str:
    """A moment in the visitor's own time zone, as `minute`, `second`, `short` or `day`."""
    local = moment.astimezone(_zone())
    month = table(current())[f"date.month{local.month}"]
    return say(f"date.{form}", day=local.day, month=month, year=local.year, time=f"{local:%H:%M}", seconds=f"{local:%S}")


def _zone() -> ZoneInfo:
    name = st.context.timezone if get_script_run_ctx(suppress_warning=True) else None
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def now() -> datetime:
    """The time, for elapsed clocks."""
    return datetime.now(UTC)


@cache
def table(language: str) -> Mapping[str, str]:
    """All wordings of a language, by `section.name`."""
    sections = tomllib.loads((TABLES / f"{language}.toml").read_text("utf-8"))
    return {f"{section}.{name}": text for section, texts in sections.items() for name, text in texts.items()}
