"""A report that is being written: its headings as soon as it has an outline, each section as soon as it is written."""

import streamlit as st

from rubrica_client.models import Run
from ui.components import click_listener, done_notice, pace_bar, problem, run_header, safe_fragments
from ui.components.markup import escape
from ui.components.report_view import Article, make_article, outline_html
from ui.facts import is_finished
from ui.language import get_language, now, say
from ui.progress import WatchedProgress
from ui.report import PageReport
from ui.watching import REFRESH, begin_watching, look_again

PREPARED = 24  # drafts kept ready to show, for all visitors together
ENDED = {"failed": "read.failed", "cancelled": "read.cancelled"}
WAITS = {"awaiting_approval": "read.awaiting", "paused": "read.paused", "budget_reached": "read.paused"}


def show(run: Run) -> None:
    """Draw the report as far as it is written. When the run ends, the whole page runs again and shows the finished report."""
    run_header.show(run, "views/read.py")
    begin_watching(run)
    done_notice.offer(run)
    safe_fragments.make_fragment(_show_draft, run_every=None if is_finished(run) else REFRESH)(run.status)


def _show_draft(status: str) -> None:
    watched = look_again()
    run, progress, trouble, _ = watched
    if run.status != status:
        st.rerun()
    if trouble:
        problem.show(trouble)
    elif watched.is_stalled:
        problem.show_stalled()
    key = ENDED.get(run.status) or WAITS.get(run.status) or ("read.draft" if progress.draft else "read.not_yet")
    pace = pace_bar.pace_html(run, progress, now(), pace_bar.find_likely_time(run))
    st.html(f'<div class="r-note" role="status">{escape(say(key))}</div>{pace}')
    if not progress.draft:
        return
    draft = read_draft(progress)
    article = _prepare(draft.model_dump_json(), get_language())
    left, right = st.columns([13, 6], gap="large")
    left.html(article.html)
    right.html(outline_html(article.outline))
    click_listener.show_cards({"": draft})


def read_draft(progress: WatchedProgress) -> PageReport:
    """Return the sections so far as a report. A section that is not written has its heading and says so."""
    parts = [f"# {progress.draft_title}"] if progress.draft_title else []
    for section in progress.draft.values():
        parts.append(f"## {section.heading}\n\n{section.markdown or '*' + say('read.unwritten') + '*'}")
    cited = {citation.n: citation for section in progress.draft.values() for citation in section.citations}
    return PageReport(markdown="\n\n".join(parts), title=progress.draft_title, citations=tuple(cited.values()))


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepare(draft: str, language: str) -> Article:
    """Return the draft as HTML. `language` is only part of the cache's key: the labels in the text are in this language."""
    return make_article(PageReport.model_validate_json(draft))
