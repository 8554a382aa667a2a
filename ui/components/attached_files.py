"""Files attached to a question: they become a collection of their own, which the question then searches."""

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st

from rubrica_client import ApiError, documents
from rubrica_client.models import Collection, OwnDocument
from ui.components import file_upload, own_collections, problem, reading_time, safe_fragments
from ui.components.markup import escape
from ui.facts import is_being_read
from ui.language import now, say, say_name
from ui.session import get_api

ATTACHED = "attached_collection"  # until a run has begun
REFRESH = timedelta(seconds=2)
LONGEST_FILE_NAME = 70  # so that the collection's name is one that the API takes


def show() -> bool:
    """Draw the field and what became of the files; return whether none of them is still being read."""
    files = file_upload.ask_files(say("ask.attach"))
    try:
        if files:
            _take_files(files)
            st.rerun()
        attached: Collection | None = st.session_state.get(ATTACHED)
        if attached is None:
            return True
        ready = not any(map(is_being_read, _list_documents(attached)))
    except ApiError as error:
        forget()  # somebody may have deleted it
        problem.show(error)
        return True
    st.caption(say("ask.attached", name=attached.name))
    safe_fragments.make_fragment(_show_states, run_every=None if ready else REFRESH)(attached, ready)
    return ready


def forget() -> None:
    """Let the next files become another collection."""
    st.session_state.pop(ATTACHED, None)


def _take_files(files: file_upload.Files) -> None:
    """Send the files to the question's collection, which is made and chosen with the first of them."""
    if ATTACHED not in st.session_state:
        st.session_state[ATTACHED] = get_api().send(documents.create_collection(_name_collection(files)))
        own_collections.add(st.session_state[ATTACHED].name)
    file_upload.send_files(st.session_state[ATTACHED].id, files)


def _name_collection(files: file_upload.Files) -> str:
    """Return the first file's name, how many there are besides, and the moment, so that no two collections share a name."""
    more = f" +{len(files) - 1}" if len(files) > 1 else ""
    return f"{files[0][0][:LONGEST_FILE_NAME]}{more} · {now():%Y-%m-%d %H:%M:%S}"


def _list_documents(collection: Collection) -> Sequence[OwnDocument]:
    return get_api().send(documents.list_(collection.id)).items


def _show_states(attached: Collection, ready: bool) -> None:
    """Draw the state of each file. Run the whole page again when the last one has been read, which lets the question start."""
    files = _list_documents(attached)
    if not ready and not any(map(is_being_read, files)):
        reading_time.show(attached.id, files)
        st.rerun()
    lines = "".join(
        f'<li><b>{escape(file.name)}</b> <span class="r-quiet">{escape(say_name("document", file.state))}'
        f"{escape(f': {file.detail}' if file.detail else '')}</span></li>"
        for file in files
    )
    st.html(f'<ul class="r-list" role="status">{lines}</ul>')
    reading_time.show(attached.id, files)
