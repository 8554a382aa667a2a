"""Taking a report away: the file formats."""

from functools import partial

import streamlit as st

from ui.api_client import ApiClient
from ui.language import say
from ui.models import Run


def bar(client: ApiClient, run: Run) -> None:
    """What can be done with the report, on one line."""
    with st.container(horizontal=True, gap="small", key="report_bar"), st.popover(say("read.export"), icon=":material/download:"):
        _formats(client, run)


def _formats(client: ApiClient, run: Run) -> None:
    files = (
        ("Markdown", "report", "md", "text/markdown", partial(client.report_file, run.id, "text/markdown")),
        ("HTML", "report", "html", "text/html", partial(client.report_file, run.id, "text/html")),
        ("JSON", "evidence", "json", "application/json", partial(client.evidence, run.id)),
    )
    for label, name, ending, media_type, fetch in files:
        st.download_button(
            label, fetch, f"{name}-{run.id}.{ending}", media_type, key=ending, on_click="ignore", width="stretch", type="tertiary"
        )
