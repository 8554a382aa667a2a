"""A quote in its source, on its own page that can be linked to."""

import streamlit as st

from rubrica_client import ApiError, reports
from ui.components import problem, run_header, source_view
from ui.report import Report
from ui.session import api, run_id


def main() -> None:
    """Show citation `?n=` of run `?run=`."""
    if not run_id():
        run_header.no_run()
        return
    try:
        report = Report.of(api().send(reports.get(run_id())))
    except ApiError as error:
        problem.show(error)
        return
    source_view.show(api(), report, st.query_params.get("n", ""))


main()
