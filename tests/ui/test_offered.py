"""What the page offers: what there is to do it with here, and what the visitor may do."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.example_runs import add_finished_run, add_searching_run
from tests.ui.fake_accounts import add_collection, add_organisation, add_schedule
from tests.ui.fake_api import FakeApi
from tests.ui.test_pages import shown

OpenPage = Callable[..., AppTest]


def read_text(app: AppTest) -> str:
    """All that is written on the page, as HTML or Markdown."""
    return "\n".join(
        [shown(app), *(block.value for block in (*app.markdown, *app.caption)), *(box.label for box in app.expander)]
    )


def list_keys(app: AppTest) -> set[str]:
    """The keys of all that can be pressed, chosen or filled in."""
    kinds = (app.button, app.toggle, app.selectbox, app.multiselect, app.text_input, app.text_area, app.chat_input, app.pills)
    return {str(element.key) for kind in kinds for element in kind} | {str(field.key) for field in app.file_uploader}


def test_the_form_tells_which_model_works(api: FakeApi, open_page: OpenPage) -> None:
    api.models = ["planner-7b", "writer-<30b>"]
    app = open_page("ask")
    assert "Model: planner-7b, writer-&lt;30b&gt; · Searches: the default corpus" in shown(app)
    assert "No language model" not in read_text(app)
    assert {"tone", "composition", "audience", "systems"} <= list_keys(app)


def test_without_a_model_the_form_says_what_a_report_is_and_offers_nothing_that_needs_one(
    api: FakeApi, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.models, api.systems = [], ["minddr"]
    app = open_page("ask")
    assert "No language model is set up: reports quote" in read_text(app)
    assert "word for word" in read_text(app)
    assert "RUBRICA_LLM_BASE_URL" in read_text(app), "the owner of the machine can set one"
    assert "Model:" not in shown(app)
    assert not {"tone", "composition", "audience", "systems"} & list_keys(app)
    assert {"length", "format", "start"} <= list_keys(app)
    report = open_page("read", run=add_finished_run(api).id)
    assert "Other systems" not in read_text(report)
    monkeypatch.delenv("RUBRICA_API_KEY")
    monkeypatch.setattr("ui.session.read_session_token", lambda: "a-token")
    add_organisation(api)
    app = open_page("ask")
    assert "Whoever runs this installation can add one." in read_text(app)
    assert "RUBRICA" not in read_text(app), "a reader of a hosted page can set nothing"


def test_a_viewer_reads_and_is_offered_nothing_else(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api, "viewer")
    add_collection(api)
    add_schedule(api)
    app = open_page("ask")
    assert "Asking needs the role of a member" in read_text(app)
    assert not {"question", "start"} & list_keys(app)
    report = open_page("read", run=add_finished_run(api).id)
    assert not {"share", "follow_up", "compare", "repeat", "add_systems", "flag_claim"} & list_keys(report)
    assert "<article" in shown(report)
    assert not {"pause", "cancel", "note_text", "set_budget"} & list_keys(open_page("watch", run=add_searching_run(api).id))
    assert not {"collection_name"} & list_keys(open_page("collections"))
    assert not {"files_0", "delete_d1", "delete_it", "access_set", "ask_these"} & list_keys(open_page("collections", id="c1"))
    assert not {"trigger", "pause_schedule", "delete_it"} & list_keys(open_page("schedules", id="s1"))
    assert "choose Compare" not in read_text(open_page("compare")), "nobody is sent to a form that they are not shown"


def test_a_member_is_offered_what_a_viewer_is_not(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api, "member")
    add_collection(api)
    assert {"question", "start"} <= list_keys(open_page("ask"))
    assert {"share", "follow_up", "repeat", "add_systems", "flag_claim"} <= list_keys(
        open_page("read", run=add_finished_run(api).id)
    )
    assert {"pause", "cancel", "note_text"} <= list_keys(open_page("watch", run=add_searching_run(api).id))
    assert {"files_0", "delete_d1", "ask_these"} <= list_keys(open_page("collections", id="c1"))
