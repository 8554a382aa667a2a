"""A quote in its source, on its own page that can be linked to."""

import streamlit as st

from rubrica_client import ApiError, reports
from ui.components import problem, run_header, source_view
from ui.components.page_title import name_page
from ui.language import say
from ui.report import PageReport
from ui.session import get_api, read_run_id


def main() -> None:
    """Show citation `?n=` of run `?run=`."""
    if not read_run_id():
        run_header.show_no_run()
        return
    try:
        report = PageReport.of(get_api().send(reports.get(read_run_id())))
    except ApiError as error:
        problem.show(error)
        return
    name_page(say("source.citation", n=st.query_params.get("n", "")), report.title)
    source_view.show(get_api(), report, st.query_params.get("n", ""))


main()
