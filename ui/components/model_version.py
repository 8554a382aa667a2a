"""One version of a trained model: where it stands, what it learned from, what was measured, and who changed what."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import registry
from rubrica_client.models import CanaryView, ModelVersionDetail, ModelVersionView, MoveView, Promotion, VersionChange
from ui.components.canary_course import course_html
from ui.components.figures_view import figures_html
from ui.components.lineage_graph import lineage_html
from ui.components.markup import escape, hero_html, labelled_html
from ui.components.model_roles import ask_reason
from ui.components.training_curves import curves_html
from ui.language import say, say_count, say_name, say_time
from ui.session import get_api

MAY_SERVE = ("candidate", "canary", "retired")


def show(detail: ModelVersionDetail, may_act: bool) -> None:
    """Draw a version with all that is known of it."""
    version = detail.version
    lead = say("models.about", role=name_roles(version), base=version.base, recipe=version.recipe or "–", n=version.rows)
    st.html(hero_html(version.name, lead) + _facts_html(detail))
    with st.container(horizontal=True, gap="small"):
        if may_act and version.state in MAY_SERVE:
            ask_reason(
                say("models.promote"),
                say("models.promote_help"),
                "promote",
                ":material/rocket_launch:",
                lambda why: registry.promote(version.id, Promotion(reason=why)),
                say("models.promoted"),
            )
        card = get_api().send(registry.card(version.id))
        name = f"{version.name}.md"
        st.download_button(say("models.card"), card, name, "text/markdown", key="card", icon=":material/description:")
    for evaluation in detail.evaluations:
        title = say("models.measured", kind=say_name("measurement", evaluation.kind), when=say_time(evaluation.at))
        st.html(labelled_html(title, curves_html(evaluation.figures) + figures_html(evaluation.figures)))
    if detail.canaries:
        st.html(labelled_html(say("models.canaries"), _canaries_html(detail)))
    st.html(labelled_html(say("models.lineage"), lineage_html(detail.lineage, version.id)))
    st.html(labelled_html(say("models.history"), _changes_html(detail.changes)))
    if detail.moves:
        st.html(labelled_html(say("models.moves"), moves_html(detail.moves)))


def name_roles(version: ModelVersionView) -> str:
    """Return all roles that a version is meant for, in words, its own first."""
    return say("log.comma").join(say_name("model_role", role) for role in (version.role, *version.also))


def moves_html(moves: Sequence[MoveView]) -> str:
    """Return moves of roles as a list."""
    lines = "".join(
        f"<li>{escape(say_name('model_role', move.role))}: {escape(move.came_from or '–')} → {escape(move.went_to)}<br>"
        f'<span class="r-quiet">{escape(_tell_act(say_time(move.at), move.by, move.why))}</span></li>'
        for move in moves
    )
    return f'<ul class="r-list">{lines}</ul>'


def _facts_html(detail: ModelVersionDetail) -> str:
    version = detail.version
    facts = (
        say_name("version_state", version.state),
        say("models.licence", name=version.licence) if version.licence else "",
        say_count("judgement", detail.judgements),
        say_name("on_erasure", version.on_erasure),
    )
    return "".join(f'<span class="r-chip">{escape(fact)}</span> ' for fact in facts if fact)


def _canaries_html(detail: ModelVersionDetail) -> str:
    courses = {course.canary: course_html(course) for course in detail.courses}
    lines = "".join(
        f"<li>{escape(say('models.canary', name=each.served, share=f'{each.share:.0%}'))}: "
        f"{escape(say_name('canary_state', each.state))} {escape(each.why)}<br>"
        f'<span class="r-quiet">{escape(_tell_span(each))}</span>{courses.get(each.id, "")}</li>'
        for each in detail.canaries
    )
    return f'<ul class="r-list">{lines}</ul>'


def _tell_span(canary: CanaryView) -> str:
    return f"{say_time(canary.started_at)} – {say_time(canary.ended_at) if canary.ended_at else ''}"


def _changes_html(changes: Sequence[VersionChange]) -> str:
    lines = "".join(
        f"<li>{escape(say_name('version_state', each.state))}<br>"
        f'<span class="r-quiet">{escape(_tell_act(say_time(each.at), each.by, each.why))}</span></li>'
        for each in changes
    )
    return f'<ul class="r-list">{lines}</ul>'


def _tell_act(when: str, by: str, why: str) -> str:
    return say("models.act", when=when, by=say_name("model_actor", by), why=why)
