"""The form that has a finished run's question asked again at set times."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import Client, schedules
from rubrica_client.models import NewSchedule, Run
from ui.components.controls import send_command
from ui.components.run_list import shorten_question
from ui.components.timing import ask_timing
from ui.language import say
from ui.navigation import open_page
from ui.session import get_equipment, get_me, is_own_machine

LONGEST_NAME = 80


def show(client: Client, run: Run) -> None:
    """Draw the form: how often, when, and who is told."""
    st.caption(say("repeat.help"))
    timing, addresses = ask_timing(), _ask_addresses()
    if st.button(say("repeat.do"), key="repeat", type="primary"):
        name = shorten_question(run.query.question, LONGEST_NAME)
        new = NewSchedule(name=name, from_run=run.id, timing=timing, deliver_to=addresses)
        if send_command(lambda: client.send(schedules.create(new)), say("repeat.done")):
            open_page("views/schedules.py")


def _ask_addresses() -> Sequence[str]:
    """Draw who is told by mail; where no mail can be sent, that and where the changes are shown."""
    there = get_equipment()
    if there and not there.sends_mail:
        st.caption(say("repeat.no_mail_own" if is_own_machine() else "repeat.no_mail"))
        return ()
    who = get_me()
    return st.multiselect(
        say("repeat.tell"),
        [who.email] if who and who.email else [],
        key="repeat_tell",
        accept_new_options=True,
        placeholder="name@example.org",
        help=say("repeat.tell_help"),
        max_selections=20,
    )
