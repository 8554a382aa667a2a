"""The choice of systems: one or several before a question is asked, more of them beside a report."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import ApiError, Client, runs
from rubrica_client.models import Run
from ui.components import problem
from ui.language import say, say_name
from ui.navigation import open_page
from ui.session import get_equipment

SYSTEMS = ("minddr", "mams", "react", "deeprubric")


def list_systems() -> Sequence[str]:
    """Return the systems that can be asked here: most need a model. All of them where the API does not say."""
    there = get_equipment()
    return there.systems if there else SYSTEMS


def choose() -> tuple[str, ...]:
    """Draw the systems, and return those chosen, in the order of the list; with none, the API chooses."""
    if len(list_systems()) < 2:
        return ()
    return tuple(
        st.pills(
            say("ask.systems"),
            list_systems(),
            selection_mode="multi",
            key="systems",
            wrap=True,
            format_func=lambda name: say_name("system", name),
            help=say("ask.systems_help"),
        )
    )


def show_further(client: Client, run: Run) -> None:
    """Draw the form that asks other systems the question of a run, then go to the page that compares them."""
    st.caption(say("beside.add_help"))
    left = [name for name in list_systems() if name != run.query.system]
    chosen = st.pills(
        say("ask.systems"),
        left,
        selection_mode="multi",
        key="further_systems",
        format_func=lambda name: say_name("system", name),
        wrap=True,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        why = None if chosen else say("beside.choose_first")
        if st.button(say("beside.add"), key="add_systems", type="primary", disabled=not chosen, help=why):
            try:
                client.send(runs.add_systems(run.id, chosen))
            except ApiError as error:
                problem.show(error)
                return
            open_page("views/side_by_side.py", run=run.id)
        st.page_link("views/side_by_side.py", label=say("beside.open"), query_params={"run": run.id})
