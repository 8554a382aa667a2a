"""A quote in its place: the stored copy of the source, opened where the citation points."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import problem
from ui.components.markup import link
from ui.components.passage import passage_html
from ui.models import Citation
from ui.session import api, run_id


def main() -> None:
    """Citation `?n=` of run `?run=`."""
    try:
        citation = _citation(run_id(), st.query_params.get("n", ""))
        text = api().snapshot(citation.source.snapshot)
    except ApiProblem as error:
        problem.show(error)
        return
    source = citation.source
    place = f"characters {citation.start:,} to {citation.end:,} of {len(text):,}"
    st.html(
        f'<div class="r-eyebrow"><span>Citation {citation.n}</span><span>{place}</span></div>'
        f'<h1 class="r-question">{link(source.url, source.title or source.url)}</h1>'
    )
    whole = st.toggle("Show the whole text", key="whole")
    st.html(passage_html(text, citation, whole=whole))
    st.caption(f"Stored copy {source.snapshot[:16]}…, named by the SHA-256 of its text")


def _citation(run: str, number: str) -> Citation:
    for citation in api().report(run).citations:
        if str(citation.n) == number:
            return citation
    raise ApiProblem("There is no such citation", f"The report of this run has no number {number!r}.", 404)


main()
