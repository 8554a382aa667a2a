"""The cycles of training on the page of models, as the operator meets them."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.fake_cycles import PLAN, add_cycles, make_cycle
from tests.ui.fake_registry import add_registry
from tests.ui.test_models import shown

OpenPage = Callable[..., AppTest]
ASKING = make_cycle(
    1, "waiting", step="rubric.canary", stage="rubric", asks=True, detail="waits for the approval of rubric.canary"
)


def test_who_does_not_operate_the_deployment_sees_no_cycles(api: FakeApi, open_page: OpenPage) -> None:
    add_registry(api)
    assert "Cycles of training" not in shown(open_page("models"))
    assert not [path for _, path, _ in api.received if "cycles" in path or "plans" in path]


def test_the_next_cycle_is_told_with_what_it_lacks(api: FakeApi, open_page: OpenPage) -> None:
    add_registry(api, operates=True)
    add_cycles(api)
    told = shown(open_page("models"))
    assert "No cycle has begun yet" in told
    assert "0 3 * * sun UTC" in told
    assert 'decided pairs: about 1,038 of 100 <span class="r-chip full">enough</span>' in told
    assert 'readers: about 3 of 5 <span class="r-chip warn">2 missing</span>' in told
    assert "rubric: rows to learn from: about 31 of 200" in told
    assert "writer: rows to learn from: 50 are needed" in told
    assert "An estimate from the votes" in told


def test_a_plan_that_cannot_be_read_says_why_and_is_not_started(api: FakeApi, open_page: OpenPage) -> None:
    add_registry(api, operates=True)
    add_cycles(api, plans=(PLAN | {"fault": "it names <gate.toml>", "needs": []},))
    app = open_page("models")
    assert "it names &lt;gate.toml&gt;" in shown(app)
    assert not [button for button in app.button if button.key == "do_start_weekly"]


def test_cycles_under_way_have_their_step_and_log_and_ended_ones_their_reason(api: FakeApi, open_page: OpenPage) -> None:
    add_registry(api, may_act=False, operates=True)
    add_cycles(api, ASKING, make_cycle(2, "refused", detail="rubric.gate: citations <fell>"))
    app = open_page("models")
    told = shown(app)
    assert "rubric: canary, since" in told
    assert "It waits for a person of the operator&#x27;s to agree." in told
    assert "ada_b@example.org paused it – a &lt;fair&gt;" in told
    assert "rubric: training: goes on: loss 0.25" in told
    assert "paused: before rubric.gate" in told
    assert "rubric: gate: ended: verdict refused" in told
    assert "rubric.gate: citations &lt;fell&gt;" in told
    assert "by its schedule" in told
    assert not app.text_area


def test_a_cycle_has_the_outcomes_of_its_steps_and_what_they_wrote(api: FakeApi, open_page: OpenPage) -> None:
    add_registry(api, operates=True)
    add_cycles(api, make_cycle(2, "refused", detail="rubric.gate: citations <fell>"))
    app = open_page("models", cycle="cycle2")
    told = shown(app)
    assert "US$ 0.75 of 20.00 and 1.5 of 8.0 device-hours are spent." in told
    assert "attempt 2" in told
    assert "<strong>decided pairs</strong> 412" in told
    assert "wins of &lt;b&gt;readers&lt;/b&gt;" in told
    assert "citations &lt;fell&gt;" in told
    assert [block.value for block in app.code] == ["# Gate: refused\n\n| metric |\n|---|"]
    assert not app.text_area


@pytest.mark.parametrize(
    ("cycle", "acts"),
    [
        (ASKING, {"approve", "pause", "stop"}),
        (make_cycle(1, "running", step="rubric.train"), {"pause", "stop_after", "stop"}),
        (make_cycle(1, "paused", step="rubric.train", wish="pause"), {"go", "stop"}),
        (make_cycle(1, "running", step="rubric.train", wish="stop_after"), {"stop"}),
        (make_cycle(1, "running", step="rubric.train", wish="stop"), set()),
    ],
)
def test_a_cycle_offers_what_fits_its_state(api: FakeApi, open_page: OpenPage, cycle: dict[str, object], acts: set[str]) -> None:
    add_registry(api, operates=True)
    add_cycles(api, cycle)
    for app in (open_page("models"), open_page("models", cycle="cycle1")):
        keys = [button.key or "" for button in app.button]
        assert {key.removeprefix("do_").removesuffix("_cycle1") for key in keys if key.endswith("_cycle1")} == acts


@pytest.mark.parametrize(
    ("cycle", "button", "command"),
    [
        (ASKING, "approve_cycle1", ("POST", "approve", {"step": "rubric.canary", "reason": "it may"})),
        (ASKING, "pause_cycle1", ("POST", "pause", {"reason": "it may"})),
        (make_cycle(1, "paused", wish="pause"), "go_cycle1", ("POST", "go", {"reason": "it may"})),
        (make_cycle(1, "running"), "stop_cycle1", ("POST", "stop", {"reason": "it may"})),
        (make_cycle(1, "running"), "stop_after_cycle1", ("POST", "stop", {"reason": "it may", "after_step": True})),
        (ASKING, "start_weekly", ("POST", "start", {"reason": "it may"})),
    ],
)
def test_the_operator_acts_with_a_reason_and_not_without(
    api: FakeApi, open_page: OpenPage, cycle: dict[str, object], button: str, command: tuple[str, str, object]
) -> None:
    add_registry(api, operates=True)
    add_cycles(api, cycle)
    app = open_page("models")
    app.button(key=f"do_{button}").click().run()
    assert "Say why" in shown(app)
    assert api.commands() == []
    app.text_area(key=f"why_{button}").set_value("it may")
    app.button(key=f"do_{button}").click().run()
    assert api.commands() == [command]
