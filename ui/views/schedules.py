"""Questions that are asked again at set times, and what each asking found changed."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.client import living
from ui.client.living import Firing, Schedule, Shown
from ui.components import problem
from ui.components.controls import act
from ui.components.markup import hero, link, plain, text
from ui.components.run_list import shortened
from ui.language import count, named, say, when
from ui.session import api


def main() -> None:
    """The schedule named in the address (`?id=`) with its changes, else all of them."""
    chosen = st.query_params.get("id")
    try:
        page = living.schedules(api(), st.query_params.get("before"))
        found = next((schedule for schedule in page.items if schedule.id == chosen), None)
        if found:
            _one(found)
        else:
            _all(page.items, page.next)
    except ApiProblem as error:
        problem.show(error)


def _all(schedules: tuple[Schedule, ...], following: str | None) -> None:
    st.html(hero(say("schedules.title"), say("schedules.lead")))
    if not schedules:
        st.html(f'<p class="r-quiet">{text(say("schedules.none"))}</p>')
    for schedule in schedules:
        with st.container(border=True, key=f"row_{schedule.id}", gap="xsmall"):
            st.page_link("views/schedules.py", label=plain(schedule.name), query_params={"id": schedule.id})
            st.html(_facts_html(schedule))
    if following:
        st.page_link("views/schedules.py", label=say("history.older"), query_params={"before": following})


def _facts_html(schedule: Schedule) -> str:
    question = shortened(str(schedule.query.get("question", "")))
    times = f"{schedule.timing.cron} ({schedule.timing.time_zone})"
    following = say("schedules.next", when=when(schedule.next_at, "short")) if schedule.next_at else ""
    state = say("schedules.paused") if schedule.paused else following
    facts = "".join(f"<span>{text(fact)}</span>" for fact in (times, state, schedule.detail) if fact)
    return f'<p>{text(question)}</p><div class="r-eyebrow">{facts}</div>'


def _one(schedule: Schedule) -> None:
    st.html(f'<h1 class="r-question">{text(schedule.name)}</h1>{_facts_html(schedule)}')
    with st.container(horizontal=True):
        if st.button(say("schedules.now"), key="trigger", icon=":material/play_arrow:"):
            act(lambda: living.trigger(api(), schedule.id), say("schedules.asked"))
        label, icon = ("steer.resume", ":material/play_arrow:") if schedule.paused else ("steer.pause", ":material/pause:")
        if st.button(say(label), key="pause_schedule", icon=icon) and act(
            lambda: living.change_schedule(api(), schedule.id, paused=not schedule.paused), say("schedules.changed")
        ):
            st.rerun()
        with st.popover(say("schedules.delete"), icon=":material/delete:"):
            st.markdown(say("schedules.delete_help"))
            if st.button(say("schedules.delete_yes"), key="delete_schedule", type="primary") and act(
                lambda: living.remove_schedule(api(), schedule.id), say("schedules.deleted")
            ):
                st.switch_page("views/schedules.py")
    for firing in living.changes(api(), schedule.id).items:
        _firing(firing)


def _firing(firing: Firing) -> None:
    changed = firing.changes
    told = {"fallen": changed.fallen, "new_claim": changed.new_claims, "passage": changed.passages}
    told |= {"new_source": changed.new_sources, "vanished": changed.vanished_sources}
    with st.container(border=True, key=f"firing_{firing.due_at:%Y%m%d%H%M%S}"):
        counts = " · ".join(count(kind, len(items)) for kind, items in told.items() if items)
        title = f"<b>{text(when(firing.due_at, 'short'))}</b> {text(named('firing', firing.outcome))}"
        st.html(f'{title} <span class="r-quiet">{text(counts or firing.detail)}</span>{changes_html(firing)}')
        if firing.run_id:
            st.page_link("views/read.py", label=say("watch.read"), query_params={"run": firing.run_id})


def changes_html(firing: Firing) -> str:
    """Old claims that no longer hold first: that is what a reader must know."""
    changed = firing.changes
    fallen = "".join(
        f'<li class="contradicted">{text(item.claim)}<div class="r-quiet">{text(named("fallen", item.why))}</div>'
        f"{_said(item.before)}{_said(item.after)}</li>"
        for item in changed.fallen
    )
    new = "".join(f"<li>{text(item.claim)}{_said(item.quotes)}</li>" for item in changed.new_claims)
    sources = "".join(f"<li>{link(source.url, source.title or source.url)}</li>" for source in changed.new_sources)
    groups = ((say("schedules.fallen"), fallen), (say("schedules.new"), new), (say("schedules.sources"), sources))
    return "".join(f'<h3 class="r-label">{text(label)}</h3><ul class="r-list">{items}</ul>' for label, items in groups if items)


def _said(quotes: tuple[Shown, ...]) -> str:
    return "".join(
        f'<blockquote class="r-quiet">{text(quote.text)} — {link(quote.url, quote.title or quote.url)}</blockquote>'
        for quote in quotes
    )


main()
