"""A field for files that are sent to a collection as soon as they are chosen, and what became of the sending."""

import streamlit as st

from rubrica_client import ApiError, documents
from ui.components import problem
from ui.components.markup import escape
from ui.language import say
from ui.session import get_api

SENDINGS, REFUSED, UNSENT = "files_sent", "files_refused", "files_unsent"
MOST_AT_ONCE = 50  # the API's own limit
LARGEST_MIB = 64  # the API's own limit
KINDS = ("pdf", "docx", "pptx", "xlsx", "epub", "html", "htm", "md", "txt", "csv")

Files = list[tuple[str, bytes]]


def ask_files(label: str) -> Files:
    """Draw the field, and what was not taken last time, with the reason; return the files that were chosen just now.

    They are returned once: a new field takes the place of the one that has them.
    """
    sendings = st.session_state.setdefault(SENDINGS, 0)
    files = st.file_uploader(label, KINDS, accept_multiple_files=True, key=f"files_{sendings}", max_upload_size=LARGEST_MIB)
    for name, reason in st.session_state.pop(REFUSED, ()):
        st.html(f'<div class="r-note bad" role="alert"><strong>{escape(name)}</strong>{escape(reason)}</div>')
    if unsent := st.session_state.pop(UNSENT, None):
        problem.show(unsent)
    if files:
        st.session_state[SENDINGS] = sendings + 1
    return [(file.name, file.getvalue()) for file in files]


def send_files(collection: str, files: Files) -> None:
    """Send the files, as many at once as the API takes, and store what was refused and what ended the sending."""
    refused = st.session_state[REFUSED] = []
    with st.spinner(say("collections.sending")):
        for start in range(0, len(files), MOST_AT_ONCE):
            try:
                taken = get_api().send(documents.upload(collection, files[start : start + MOST_AT_ONCE]))
            except ApiError as error:
                st.session_state[UNSENT] = error
                return
            refused += [(each.name, each.reason) for each in taken.refused]
