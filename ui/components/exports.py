"""Downloads of a report: the file formats, each made when it is asked for."""

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from rubrica_client import Client, reports
from rubrica_client.models import Run
from ui.language import say

WORD = re.compile(r"\w+")
LONGEST_NAME = 60


class Format(NamedTuple):
    """A kind of file: its name at the API, its label for a reader, and its file ending."""

    name: str
    label: str
    ending: str
    media_type: str


DOCUMENTS = (
    Format("pdf", "PDF", "pdf", "application/pdf"),
    Format("docx", "Word", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    Format("html", "HTML", "html", "text/html"),
    Format("md", "Markdown", "md", "text/markdown"),
    Format("latex", "LaTeX", "tex", "application/x-tex"),
    Format("json", "JSON", "json", "application/json"),
)
REFERENCES = (
    Format("bibtex", "BibTeX", "bib", "application/x-bibtex"),
    Format("ris", "RIS", "ris", "application/x-research-info-systems"),
    Format("csl", "CSL-JSON", "json", "application/vnd.citationstyles.csl+json"),
)


def show(client: Client, run: Run, title: str) -> None:
    """Draw a button for each format. A PDF or Word file takes a second or two to make. `title` names the files."""
    _group(client, run, say("read.whole_report"), "report", DOCUMENTS, title)
    _group(client, run, say("read.references"), "references", REFERENCES, title)


def file_name(title: str, ending: str) -> str:
    """Return the title as a file name, in any script."""
    words = "-".join(WORD.findall(title))
    return f"{words[:LONGEST_NAME].rstrip('-') or 'report'}.{ending}"


def _group(client: Client, run: Run, label: str, name: str, formats: Sequence[Format], title: str) -> None:
    st.caption(label)
    with st.container(horizontal=True, gap="xsmall", key=f"formats_{name}"):
        for form in formats:
            st.download_button(
                form.label,
                partial(client.send, reports.export(run.id, form.name)),
                file_name(title, form.ending),
                form.media_type,
                key=f"export_{form.name}",
                on_click="ignore",
            )
