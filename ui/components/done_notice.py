"""The browser's notice that a run is over, for who watched it and is elsewhere by then."""

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rubrica_client.models import Run
from ui.facts import is_finished
from ui.language import say, say_name

SCRIPT = Path(__file__).parent.parent / "assets" / "done_notice.js"


@cache
def _load_component() -> ComponentRenderer:
    return st.components.v2.component("rubrica_notice", js=SCRIPT.read_text("utf-8"), isolate_styles=False)


def offer(run: Run) -> None:
    """Draw the offer while the run goes on. Once it is over, the browser gives the notice if the page is not in view."""
    words = {name: say(f"notice.{name}") for name in ("offer", "granted", "denied")}
    title = f"Rubrica · {say_name('status', run.status)}"
    _load_component()(
        key="done_notice", data=words | {"run": run.id, "over": is_finished(run), "title": title, "question": run.query.question}
    )
