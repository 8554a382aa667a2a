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


class FileFormat(NamedTuple):
    """A kind of file: its name at the API, its label for a reader, and its file ending."""

    name: str
    label: str
    ending: str
    media_type: str


DOCUMENTS = (
    FileFormat("pdf", "PDF", "pdf", "application/pdf"),
    FileFormat("docx", "Word", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    FileFormat("html", "HTML", "html", "text/html"),
    FileFormat("md", "Markdown", "md", "text/markdown"),
    FileFormat("latex", "LaTeX", "tex", "application/x-tex"),
    FileFormat("json", "JSON", "json", "application/json"),
)
REFERENCES = (
    FileFormat("bibtex", "BibTeX", "bib", "application/x-bibtex"),
    FileFormat("ris", "RIS", "ris", "application/x-research-info-systems"),
    FileFormat("csl", "CSL-JSON", "csl.json", "application/vnd.citationstyles.csl+json"),
)


def show(client: Client, run: Run, title: str) -> None:
    """Draw a button for each format. A PDF or Word file takes a second or two to make. `title` names the files."""
    _show_group(client, run, say("read.whole_report"), "report", DOCUMENTS, title)
    _show_group(client, run, say("read.references"), "references", REFERENCES, title)


def make_file_name(title: str, ending: str) -> str:
    """Return the title as a file name, in any script."""
    words = "-".join(WORD.findall(title))
    return f"{words[:LONGEST_NAME].rstrip('-') or 'report'}.{ending}"


def _show_group(client: Client, run: Run, label: str, name: str, formats: Sequence[FileFormat], title: str) -> None:
    st.caption(label)
    with st.container(horizontal=True, gap="xsmall", key=f"formats_{name}"):
        for form in formats:
            st.download_button(
                form.label,
                partial(client.send, reports.export(run.id, form.name)),
                make_file_name(title, form.ending),
                form.media_type,
                key=f"export_{form.name}",
                on_click="ignore",
            )
