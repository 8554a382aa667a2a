"""Models: what serves each role, how the next is trained, which versions there are, and what the visitor's votes were part of."""

import streamlit as st

from rubrica_client import registry
from rubrica_client.models import ModelVersionView, OwnVotesView
from ui.components import list_page, model_roles, model_version, training_cycle, training_cycles
from ui.components.lineage_graph import lineage_html
from ui.components.markup import escape, hero_html, labelled_html
from ui.language import say, say_count, say_name, say_time
from ui.session import get_api, may, read_query

PAGE = "views/models.py"
MOVES = 10


def main() -> None:
    """Show the cycle or the version in the address, else what serves and all versions."""
    if cycle := read_query("cycle"):
        list_page.show_one(say("models.title"), cycle, _show_cycle)
    else:
        list_page.show(say("models.title"), _show_one, _show_all)


def _show_cycle(cycle_id: str) -> None:
    training_cycle.show(cycle_id, get_api().send(registry.roles()).may_act)


def _show_one(version_id: str) -> None:
    may_act = get_api().send(registry.roles()).may_act
    model_version.show(get_api().send(registry.version(version_id)), may_act)


def _show_all(before: str | None) -> None:
    page = get_api().send(registry.versions(before=before))
    st.html(hero_html(say("models.title"), say("models.lead") if page.items else say("models.none")))
    _show_votes(get_api().send(registry.my_votes()))
    roles = get_api().send(registry.roles())
    st.html(f'<h2 class="r-label">{escape(say("models.roles"))}</h2>')
    model_roles.show(roles)
    if roles.operates:
        training_cycles.show(roles.may_act, read_query("cycles_before"))
    if page.items:
        st.html(labelled_html(say("models.lineage"), lineage_html(page.items)))
        st.html(f'<h2 class="r-label">{escape(say("models.versions"))}</h2>')
    for version in page.items:
        list_page.show_row(PAGE, version.id, version.name, _facts_html(version))
    list_page.link_older(PAGE, page.next)
    moves = get_api().send(registry.moves(limit=MOVES)).items
    if moves:
        st.html(labelled_html(say("models.moves"), model_version.moves_html(moves)))


def _show_votes(votes: OwnVotesView) -> None:
    """Draw what the visitor's own choices were part of; without any, those who may choose are led there."""
    for learned in votes.learned:
        told = say(
            "models.own_votes",
            own=say_count("own_vote", learned.own),
            all=say_count("judgement", learned.judgements),
            name=learned.version.name,
        )
        st.html(f'<div class="r-note">{escape(told)}</div>')
    if not votes.learned and may("preferences:write"):
        st.html(f'<p class="r-quiet">{escape(say("models.why"))}</p>')
        st.page_link("views/compare.py", label=say("models.compare"), icon=":material/compare_arrows:")


def _facts_html(version: ModelVersionView) -> str:
    facts = (version.recipe, version.base, say_time(version.created_at, "day"))
    chip = f'<span class="r-chip">{escape(say_name("version_state", version.state))}</span>'
    return f'{chip} <span class="r-quiet">{escape(say("log.comma").join(fact for fact in facts if fact))}</span>'


main()
