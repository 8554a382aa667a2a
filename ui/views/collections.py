"""Collections of own documents: make, fill, follow, share, delete."""

from datetime import timedelta

import streamlit as st

from ui.api_client import ApiProblem
from ui.client import living
from ui.client.living import Access, Collection, OwnDocument
from ui.components import problem
from ui.components.controls import act
from ui.components.markup import hero, plain, text
from ui.figures import size
from ui.language import count, named, say, when
from ui.session import api

ROLES = ("viewer", "member", "admin", "owner")
UNDER_WAY = ("received", "parsed", "deleting")
REFRESH = timedelta(seconds=2)
KINDS = ("pdf", "docx", "pptx", "xlsx", "epub", "html", "htm", "md", "txt", "csv")


def main() -> None:
    """The collection named in the address (`?id=`), else all of them."""
    chosen = st.query_params.get("id")
    try:
        page = living.collections(api(), st.query_params.get("before"))
        found = next((collection for collection in page.items if collection.id == chosen), None)
        if found:
            _one(found)
        else:
            _all(page.items, page.next)
    except ApiProblem as error:
        problem.show(error)


def _all(collections: tuple[Collection, ...], following: str | None) -> None:
    st.html(hero(say("collections.title"), say("collections.lead")))
    row = st.form("new_collection", clear_on_submit=True, border=False)
    with row, st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(say("collections.name"), max_chars=100, key="collection_name")
        made = st.form_submit_button(say("collections.make"), icon=":material/create_new_folder:")
    if made and name and act(lambda: living.create_collection(api(), name), say("collections.made")):
        st.rerun()
    if not collections:
        st.html(f'<p class="r-quiet">{text(say("collections.none"))}</p>')
    for collection in collections:
        with st.container(border=True, key=f"row_{collection.id}", gap="xsmall"):
            st.page_link("views/collections.py", label=plain(collection.name), query_params={"id": collection.id})
            st.html(f'<div class="r-eyebrow"><span>{text(_facts(collection))}</span></div>')
    if following:
        st.page_link("views/collections.py", label=say("history.older"), query_params={"before": following})


def _facts(collection: Collection) -> str:
    who = say("collections.everyone") if collection.access.everyone else say("collections.some")
    return " · ".join((count("document", collection.documents), size(collection.bytes), who))


def _one(collection: Collection) -> None:
    st.html(f'<h1 class="r-question">{text(collection.name)}</h1><p class="r-quiet">{text(_facts(collection))}</p>')
    with st.container(horizontal=True):
        with st.popover(say("collections.access"), icon=":material/lock_open:"):
            _access(collection)
        with st.popover(say("collections.delete"), icon=":material/delete:"):
            st.markdown(say("collections.delete_help"))
            if st.button(say("collections.delete_yes"), key="delete_collection", type="primary") and act(
                lambda: living.remove(api(), collection.id), say("collections.deleted")
            ):
                st.switch_page("views/collections.py")
    _upload(collection)
    st.fragment(_documents, run_every=REFRESH)(collection.id)


def _access(collection: Collection) -> None:
    everyone = st.toggle(say("collections.everyone"), collection.access.everyone, key="access_everyone")
    before = [role for role in ROLES if role in collection.access.roles]
    roles = [] if everyone else st.multiselect(say("collections.roles"), ROLES, before, _role, key="access_roles")
    if st.button(say("collections.access_set"), key="access_set", type="primary"):
        access = Access(everyone=everyone, users=collection.access.users, roles=tuple(roles))
        if act(lambda: living.set_access(api(), collection.id, access), say("collections.access_done")):
            st.rerun()


def _role(role: str) -> str:
    return named("role", role)


def _upload(collection: Collection) -> None:
    with st.form("upload", clear_on_submit=True, border=False):
        files = st.file_uploader(say("collections.files"), KINDS, accept_multiple_files=True, key="files")
        sent = st.form_submit_button(say("collections.send"), icon=":material/upload:", type="primary")
    if not sent or not files:
        return
    try:
        with st.spinner(say("collections.sending")):
            taken = living.upload(api(), collection.id, [(file.name, file.getvalue()) for file in files])
    except ApiProblem as error:
        problem.show(error)
        return
    for refused in taken.refused:
        st.html(f'<div class="r-note bad" role="alert"><strong>{text(refused.name)}</strong>{text(refused.reason)}</div>')


def _documents(collection: str) -> None:
    """How far each document is, drawn anew while one is under way."""
    try:
        page = living.documents(api(), collection, st.query_params.get("documents_before"))
    except ApiProblem as error:
        problem.show(error)
        return
    for document in page.items:
        _document(collection, document)
    if page.next:
        query = {"id": collection, "documents_before": page.next}
        st.page_link("views/collections.py", label=say("history.older"), query_params=query)


def _document(collection: str, document: OwnDocument) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"row_{document.id}"):
        state = "running" if document.state in UNDER_WAY else "completed" if document.state == "indexed" else "failed"
        detail = f'<br><span class="r-quiet">{text(document.detail)}</span>' if document.detail else ""
        pill = f'<span class="r-pill {state}">{text(named("document", document.state))}</span>'
        facts = f'<span class="r-quiet">{text(size(document.bytes))} · {text(when(document.received_at, "short"))}</span>'
        st.html(f"{pill} <b>{text(document.name)}</b> {facts}{detail}")
        if st.button("", key=f"delete_{document.id}", icon=":material/delete:", help=say("collections.delete_document")):
            act(lambda: living.remove(api(), collection, document.id), say("collections.deleted"))


main()
