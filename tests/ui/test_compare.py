"""Comparing blind, rating and flagging, as a reader meets them."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.ui.example_runs import add_finished_run
from tests.ui.fake_api import FakeApi
from tests.ui.fake_preferences import WHEN, add_comparison, record_feedback
from tests.ui.test_pages import shown

OpenPage = Callable[..., AppTest]


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def test_choosing_blind_then_being_told(api: FakeApi, open_page: OpenPage) -> None:
    comparison = add_comparison(api, add_finished_run(api))
    app = open_page("compare", id=comparison["id"])
    assert 'data-cite="left-2"' in shown(app)
    assert 'data-cite="right-1"' in shown(app)
    assert "model stub" not in shown(app), "it is blind"
    assert app.button(key="choose").disabled
    app.segmented_control(key=f"verdict_{comparison['id']}").set_value("right").run()
    assert app.button(key="choose").disabled, "a preference has a strength"
    app.segmented_control(key=f"strength_{comparison['id']}").set_value(2).run()
    app.segmented_control(key=f"usefulness_{comparison['id']}").set_value("right").run()
    app.segmented_control(key=f"coherence_{comparison['id']}").set_value("neither").run()
    app.button(key="choose").click().run()
    assert api.commands()[-1] == (
        "POST",
        "choice",
        {
            "verdict": "right",
            "strength": 2,
            "reasons": [{"dimension": "usefulness", "side": "right"}, {"dimension": "coherence", "side": None}],
            "comment": "",
            "hidden_seconds": 0.0,
        },
    )
    assert "Clearly" in shown(app)
    app.button(key="reveal").click().run()
    assert "The report that the run delivered." in shown(app)
    assert "model stub at 1.0" in shown(app)


def test_both_bad_needs_no_strength(api: FakeApi, open_page: OpenPage) -> None:
    comparison = add_comparison(api, add_finished_run(api))
    app = open_page("compare", id=comparison["id"])
    app.segmented_control(key=f"verdict_{comparison['id']}").set_value("both_bad").run()
    app.button(key="choose").click().run()
    body = api.commands()[-1][2]
    assert body is not None
    assert (body["verdict"], body["strength"]) == ("both_bad", None)


def test_a_second_report_is_asked_for_where_one_reads(
    api: FakeApi, open_page: OpenPage, follow_link: Callable[[AppTest], AppTest]
) -> None:
    run = add_finished_run(api)
    comparison = add_comparison(api, run)
    api.answer("GET", "/v1/comparisons", lambda *_: {"items": [], "next": None})
    app = open_page("read", run=run.id)
    app.button(key="compare").click().run()
    assert api.commands()[-1] == ("POST", "comparisons", {"run_id": run.id, "writer": {"temperature": 0.8}})
    assert follow_link(app).query_params["id"] == comparison["id"]
    assert "in another order" not in captions(open_page("read", run=run.id)), "there is a model to write differently"


def test_a_second_report_that_waits_for_a_choice_is_named_where_one_reads(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    comparison = add_comparison(api, run)
    item = {**{name: comparison[name] for name in ("id", "run_id", "question", "status")}, "created_at": WHEN, "chosen": True}
    for chosen, links in ((False, 1), (True, 0)):
        api.answer("GET", "/v1/comparisons", lambda *_, chosen=chosen: {"items": [item | {"chosen": chosen}], "next": None})
        labels = [link.label for link in open_page("read", run=run.id).main.get("page_link")]
        assert len([label for label in labels if label.startswith("There is a second report")]) == links


def test_without_a_model_it_is_said_before_what_a_second_report_can_be(api: FakeApi, open_page: OpenPage) -> None:
    run = add_finished_run(api)
    comparison = add_comparison(api, run)
    chain = {"name": "quotations: time", "writer": {"agents": "brief", "arrangement": "time"}}
    api.answer("GET", "/v1/preferences/ways", lambda *_: {"items": [chain]})
    assert "the same statements in another order" in captions(open_page("read", run=run.id))
    comparison |= {"status": "same", "left": None, "right": None, "detail": "both reports came out the same"}
    html = shown(open_page("compare", id=comparison["id"]))
    assert "Both reports came out the same: over this evidence" in html
    assert 'role="alert"' not in html
    assert run.report is not None
    run.report = run.report | {"citations": []}
    app = open_page("read", run=run.id)
    assert "a second one would say the same" in shown(app)
    assert not [button for button in app.button if button.key == "compare"]


def test_comparisons_are_listed_and_one_under_way_says_so(api: FakeApi, open_page: OpenPage) -> None:
    comparison = add_comparison(api, add_finished_run(api))
    assert "to be judged" in shown(open_page("compare"))
    comparison |= {"status": "preparing", "left": None, "right": None}
    assert "is being written" in shown(open_page("compare", id=comparison["id"]))
    comparison |= {"status": "failed", "detail": "the model <b>refused</b>"}
    assert "The model &lt;b&gt;refused&lt;/b&gt;" in shown(open_page("compare", id=comparison["id"]))


def test_stars_and_a_wrong_claim_are_sent_once(api: FakeApi, open_page: OpenPage) -> None:
    run, sent = add_finished_run(api), record_feedback(api)
    app = open_page("read", run=run.id)
    app.feedback(key=f"stars_{run.id}").set_value(3).run()
    app.run()
    assert sent == [([run.id, "rating"], {"stars": 4, "comment": "", "version": 1})]
    app.selectbox(key="flag_claim").set_value(1)
    app.text_area(key="flag_reason").set_value("It was 1832.")
    next(button for button in app.button if button.label == "Report it").click().run()
    assert sent[-1] == (["1", "flag"], {"reason": "It was 1832.", "version": 1})


def test_a_pair_is_judged_for_others(api: FakeApi, open_page: OpenPage) -> None:
    comparison = add_comparison(api, add_finished_run(api))
    pair = {"id": "a1", "expires_at": WHEN, **{name: comparison[name] for name in ("question", "left", "right")}}
    agreed = {"overall": {"pairs": 9, "observed": 0.8, "kappa": 0.61}, "dimensions": {"coherence": {"pairs": 0}}}
    api.answer("GET", "/v1/annotations/next", lambda *_: {"assignment": pair})
    api.answer("GET", "/v1/annotations/agreement", lambda *_: agreed)
    api.answer("POST", "/v1/annotations(/a1(/skip)?)?", lambda *_: {})
    app = open_page("compare", id=comparison["id"])
    app.number_input(key="overlap").set_value(3)
    app.button(key="have_judged").click().run()
    assert api.commands()[-1] == ("POST", "annotations", {"comparison_ids": [comparison["id"]], "overlap": 3})
    app = open_page("annotate")
    assert "<td>9</td><td>80%</td><td>0.61</td>" in shown(app)
    assert "<td>Coherence</td><td>0</td><td>–</td><td>–</td>" in shown(app)
    app.segmented_control(key="verdict_a1").set_value("tie").run()
    app.button(key="choose").click().run()
    sent = {"verdict": "tie", "strength": None, "reasons": [], "comment": "", "hidden_seconds": 0.0}
    assert api.commands()[-1] == ("POST", "a1", sent)
    app.text_input(key="skip_a1").set_value("Not my field.").run()
    app.button(key="skip").click().run()
    assert api.commands()[-1] == ("POST", "skip", {"reason": "Not my field."})
