"""What a run's tokens went to, as its page says it."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.ui.example_runs import add_searching_run
from tests.ui.fake_api import FakeApi
from tests.ui.test_pages import shown

OpenPage = Callable[..., AppTest]


def test_watching_says_what_the_tokens_went_to(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    used = {"model_calls": 3, "output_tokens": 900, "cost_microusd": 0}
    run.purposes = [
        {"purpose": "planning", "input_tokens": 1_100, **used},
        {"purpose": "rereading", "input_tokens": 40_100, **used},
    ]
    app = open_page("watch", run=run.id)
    assert "Tokens: planning 2,000 · going over the report again 41k" in shown(app)
    app.segmented_control(key="language_choice").set_value("zh").run()
    assert "token 用于：规划 2,000 · 复核报告 41k" in shown(app)
    run.purposes, run.fields["usage"]["model_calls"] = [], 9
    assert {"pause", "cancel"} <= {button.key for button in app.run().button}, "a log that is no longer kept hides nothing else"
