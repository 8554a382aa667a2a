"""The form that has a finished run's question asked again at set times."""

import streamlit as st

from rubrica_client import Client, schedules
from rubrica_client.models import NewSchedule, Run, Timing
from ui.components.controls import send_command
from ui.components.run_list import shorten_question
from ui.language import say, say_name
from ui.navigation import open_page
from ui.session import get_me

TIMES = {"daily": "0 7 * * *", "weekly": "0 7 * * 1", "monthly": "0 7 1 * *"}
LONGEST_NAME = 80


def show(client: Client, run: Run) -> None:
    """Draw the form: how often, and who is told."""
    st.caption(say("repeat.help"))
    times = list(TIMES)
    often = st.segmented_control(
        say("repeat.often"),
        times,
        default="weekly",
        required=True,
        format_func=lambda v: say_name("often", v),
        key="repeat_often",
    )
    who = get_me()
    addresses = st.multiselect(
        say("repeat.tell"),
        [who.email] if who and who.email else [],
        key="repeat_tell",
        accept_new_options=True,
        placeholder="name@example.org",
        help=say("repeat.tell_help"),
        max_selections=20,
    )
    if st.button(say("repeat.do"), key="repeat", type="primary"):
        timing = Timing(cron=TIMES[often or "weekly"], time_zone=st.context.timezone or "UTC")
        name = shorten_question(run.query.question, LONGEST_NAME)
        new = NewSchedule(name=name, from_run=run.id, timing=timing, deliver_to=addresses)
        if send_command(lambda: client.send(schedules.create(new)), say("repeat.done")):
            open_page("views/schedules.py")
