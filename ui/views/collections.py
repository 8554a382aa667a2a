"""Collections of own documents: make them, fill them, watch their indexing, share and delete them."""

from datetime import timedelta
from functools import partial

import streamlit as st

from rubrica_client import ApiError, documents
from rubrica_client.models import Access, Collection, DocumentPage, OwnDocument
from ui.components import file_upload, icon_button, list_page, problem, reading_time, safe_fragments
from ui.components.controls import send_command
from ui.components.markup import escape, hero_html
from ui.facts import is_being_read
from ui.language import say, say_count, say_name, say_time
from ui.navigation import open_page
from ui.number_format import format_size
from ui.session import get_api, may, read_query

PAGE = "views/collections.py"
ROLES = ("viewer", "member", "admin", "owner")
REFRESH = timedelta(seconds=2)


def main() -> None:
    """Show the collection in the address, else all of them."""
    list_page.show(say("collections.title"), _show_one, _show_all)


def _show_all(before: str | None) -> None:
    page = get_api().send(documents.collections(before=before))
    st.html(hero_html(say("collections.title"), say("collections.lead")))
    if may("collections:write"):
        _show_new_form()
    if not page.items:
        st.html(f'<p class="r-quiet">{escape(say("collections.none"))}</p>')
    for collection in page.items:
        list_page.show_row(
            PAGE,
            collection.id,
            collection.name,
            f'<div class="r-eyebrow"><span>{escape(_describe_collection(collection))}</span></div>',
        )
    list_page.link_older(PAGE, page.next)


def _show_new_form() -> None:
    """Draw the form for a new collection. A new one is opened at once, to be filled."""
    row = st.form("new_collection", clear_on_submit=True, border=False)
    with row, st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(say("collections.name"), max_chars=100, key="collection_name")
        made = st.form_submit_button(say("collections.make"), icon=":material/create_new_folder:")
    if not made or not name:
        return
    try:
        st.query_params["id"] = get_api().send(documents.create_collection(name)).id
    except ApiError as error:
        problem.show(error)
        return
    st.rerun()


def _describe_collection(collection: Collection) -> str:
    who = say("collections.everyone") if collection.access.everyone else say("collections.some")
    return " · ".join((say_count("document", collection.documents), format_size(collection.bytes), who))


def _show_one(chosen: str) -> None:
    collection = get_api().send(documents.collection(chosen))
    st.html(f'<h1 class="r-question">{escape(collection.name)}</h1>')
    with st.container(horizontal=True):
        asks = bool(collection.documents) and may("runs:write")
        if asks and st.button(say("collections.ask"), key="ask_these", type="primary", icon=":material/edit:"):
            open_page("views/ask.py", **{"in": collection.name})
        if may("collections:write"):
            _show_management(collection)
    if may("collections:write"):
        _show_upload(collection)
    before = read_query("before")
    settled = not _is_under_way(get_api().send(documents.list_(collection.id, before=before)))
    safe_fragments.make_fragment(_show_documents, run_every=None if settled else REFRESH)(collection.id, before, settled)


def _show_management(collection: Collection) -> None:
    with st.popover(say("collections.access"), icon=":material/lock_open:"):
        _show_access(collection)
    list_page.offer_delete(say("collections.delete_help"), lambda: get_api().send(documents.delete_collection(collection.id)))


def _show_access(collection: Collection) -> None:
    everyone = st.toggle(say("collections.everyone"), collection.access.everyone, key="access_everyone")
    before = [role for role in ROLES if role in collection.access.roles]
    roles = [] if everyone else st.multiselect(say("collections.roles"), ROLES, before, _name_role, key="access_roles")
    if st.button(say("collections.access_set"), key="access_set", type="primary"):
        access = Access(everyone=everyone, users=collection.access.users, roles=tuple(roles))
        if send_command(lambda: get_api().send(documents.set_access(collection.id, access)), say("collections.access_done")):
            st.rerun()


def _name_role(role: str) -> str:
    return say_name("role", role)


def _show_upload(collection: Collection) -> None:
    """Draw the upload field and send files as soon as they are chosen. The list shows what has come."""
    if files := file_upload.ask_files(say("collections.files")):
        file_upload.send_files(collection.id, files)
        st.rerun()


def _is_under_way(page: DocumentPage) -> bool:
    return any(map(is_being_read, page.items))


def _show_documents(chosen: str, before: str | None, settled: bool) -> None:
    """Draw the state of each document, and refresh it while one is under way."""
    try:
        collection, page = get_api().send(documents.collection(chosen)), get_api().send(documents.list_(chosen, before=before))
    except ApiError as error:
        problem.show(error)
        return
    reading_time.show(chosen, page.items)
    if settled == _is_under_way(page):
        st.rerun()
    st.html(f'<p class="r-quiet">{escape(_describe_collection(collection))}</p>')
    with st.container(key="own_documents", gap="xsmall"):
        for document in page.items:
            _show_document(chosen, document)
    list_page.link_older(PAGE, page.next, id=chosen)


def _show_document(collection: str, document: OwnDocument) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"row_{document.id}"):
        state = "running" if is_being_read(document) else "completed" if document.state == "indexed" else "failed"
        detail = f'<br><span class="r-quiet">{escape(document.detail)}</span>' if document.detail else ""
        pill = f'<span class="r-pill {state}">{escape(say_name("document", document.state))}</span>'
        facts = f"{format_size(document.bytes)} · {say_time(document.received_at, 'short')}"
        st.html(f'{pill} <b>{escape(document.name)}</b> <span class="r-quiet">{escape(facts)}</span>{detail}')
        delete = partial(get_api().send, documents.delete(collection, document.id))
        if (
            may("collections:write")
            and icon_button.show(say("collections.delete_document"), ":material/delete:", f"delete_{document.id}")
            and send_command(delete, say("shelf.deleted"))
        ):
            st.rerun()


main()
