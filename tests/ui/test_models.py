"""The page of models as readers and the operator meet it."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.fake_registry import add_no_models, add_registry

OpenPage = Callable[..., AppTest]


def shown(app: AppTest) -> str:
    """All HTML on the page."""
    assert not app.exception, app.exception
    return "\n".join(str(block.body) for block in app.html)


def test_where_nothing_was_trained_the_page_says_so(api: FakeApi, open_page: OpenPage) -> None:
    add_no_models(api)
    assert "No model has been trained here yet." in shown(open_page("models"))


def test_readers_see_what_serves_and_what_their_votes_were_part_of(api: FakeApi, open_page: OpenPage) -> None:
    serves = add_registry(api, may_act=False)
    app = open_page("models")
    told = shown(app)
    assert f"{serves['name']} learned from 412 judgements of readers, your 14 votes among them." in told
    assert f"<strong>Writer</strong> {serves['name']}" in told
    assert "for 10% of the organisations" in told
    assert "Held by ada@example.org" in told
    assert "a &lt;fair&gt;" in told
    assert told.count('<i class="corner"') == 3  # three of the four versions have a parent
    assert "Writer 3" in told
    assert not app.text_area


def test_a_version_has_its_gate_with_intervals(api: FakeApi, open_page: OpenPage) -> None:
    serves = add_registry(api, may_act=False)
    app = open_page("models", id=serves["id"])
    told = shown(app)
    assert '0.08 <span class="r-quiet">(0.02 to 0.14)</span>' in told
    assert "&lt;b&gt;citations&lt;/b&gt;" in told
    assert '<span class="r-chip warn">not known</span>' in told
    assert "the lower end of the interval is below the margin" in told
    assert "a cycle of training: made" in told
    assert not app.text_area


def test_a_version_has_its_curves_and_all_its_roles(api: FakeApi, open_page: OpenPage) -> None:
    serves = add_registry(api, may_act=False)
    told = shown(open_page("models", id=serves["id"]))
    assert "Writer, Searcher, trained on" in told
    assert "from 2 to 0.8 in 30 steps; least 0.5, most 2" in told
    assert told.count("px;bottom:") == 3
    assert "Win rate" not in told, "who chooses blindly does not know how the choice stands"


def test_the_operator_sees_a_canarys_traffic_errors_and_win_rate(api: FakeApi, open_page: OpenPage) -> None:
    serves = add_registry(api, operates=True, may_act=False)
    told = shown(open_page("models", id=serves["id"]))
    assert "the candidate: 1,200 runs, 6 failed (0.5%)" in told
    assert "the model that served: 0 runs, 0 failed (–)" in told
    assert "The candidate won 26 of 40 votes: 65% (41% to 84%)" in told
    assert told.count('<i class="bar"') == 2


def test_the_operator_acts_with_a_reason_and_not_without(api: FakeApi, open_page: OpenPage) -> None:
    serves = add_registry(api)
    app = open_page("models")
    app.button(key="do_back_writer").click().run()
    assert "Say why" in shown(app)
    assert api.commands() == []
    for act, role in (("back", "writer"), ("hold", "writer"), ("release", "judge")):
        app.text_area(key=f"why_{act}_{role}").set_value(f"{act} it")
        app.button(key=f"do_{act}_{role}").click().run()
        assert api.commands()[-1] == ("POST", act, {"reason": f"{act} it"})
    serves["state"] = "retired"
    app = open_page("models", id=serves["id"])
    app.text_area(key="why_promote").set_value("it was better")
    app.button(key="do_promote").click().run()
    assert api.commands()[-1] == ("POST", "promote", {"reason": "it was better"})
