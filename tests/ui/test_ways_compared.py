"""Which way of writing readers prefer, as the page tells it."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import FakeApi
from tests.ui.test_pages import shown


def test_the_summary_of_choices_has_its_interval(api: FakeApi, open_page: Callable[..., AppTest]) -> None:
    counts = {"wins": 12, "losses": 4, "ties": 1, "both_bad": 1, "readers": 3}
    contest = {"first": "<model>", "second": "brief", **counts, "won": 0.75, "low": 0.505, "high": 0.898, "settled": None}
    api.answer("GET", "/v1/preferences/summary", lambda *_: {"contests": [contest], "default": {}})
    app = open_page("compare")
    assert "&lt;model&gt; and brief" in shown(app)
    assert "75% (50% to 90%)" in shown(app)
    assert "not sure yet" in shown(app), "a share without its interval would look settled"
    app.segmented_control(key="language_choice").set_value("zh").run()
    assert "75%（50% 至 90%）" in shown(app)
