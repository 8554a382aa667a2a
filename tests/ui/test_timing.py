"""When a question is asked again: chosen by day and hour, told in words."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from rubrica_client.models import Timing
from tests.ui.example_runs import add_finished_run
from tests.ui.fake_accounts import add_schedule
from tests.ui.fake_api import FakeApi
from tests.ui.test_offered import list_keys, read_text
from ui.components.timing import describe_timing

OpenPage = Callable[..., AppTest]


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 7 * * 1", "every Monday at 7:00"),
        ("0 7 * * mon", "every Monday at 7:00"),
        ("5 18 * * 0", "every Sunday at 18:05"),
        ("0 9 * * 7", "every Sunday at 9:00"),
        ("30 6 * * *", "every day at 6:30"),
        ("0 0 15 * *", "on day 15 of each month at 0:00"),
        ("0 7 1 * 1", "0 7 1 * 1"),
        ("*/5 * * * *", "*/5 * * * *"),
        ("0 7 * 3 *", "0 7 * 3 *"),
        ("0 7 * * odd", "0 7 * * odd"),
    ],
)
def test_a_time_is_told_in_words_where_there_are_some(cron: str, words: str) -> None:
    assert describe_timing(Timing(cron=cron, time_zone="Asia/Tokyo")) == f"{words} (Asia/Tokyo)"


def test_day_and_hour_are_chosen(api: FakeApi, open_page: OpenPage) -> None:
    add_schedule(api)
    app = open_page("read", run=add_finished_run(api).id)
    app.selectbox(key="repeat_weekday").set_value("thu")
    app.selectbox(key="repeat_hour").set_value(18)
    app.button(key="repeat").click().run()
    assert (api.commands()[-1][2] or {})["timing"]["cron"] == "0 18 * * thu"
    app = open_page("read", run=add_finished_run(api).id)
    app.segmented_control(key="repeat_often").set_value("monthly").run()
    app.selectbox(key="repeat_date").set_value(15)
    app.button(key="repeat").click().run()
    assert (api.commands()[-1][2] or {})["timing"]["cron"] == "0 7 15 * *"


def test_mail_is_not_offered_where_none_can_be_sent(api: FakeApi, open_page: OpenPage) -> None:
    add_schedule(api)
    assert "repeat_tell" in list_keys(open_page("read", run=add_finished_run(api).id))
    api.sends_mail = False
    app = open_page("read", run=add_finished_run(api).id)
    assert "repeat_tell" not in list_keys(app)
    assert "no mail server is set up" in read_text(app)
    app.button(key="repeat").click().run()
    assert (api.commands()[-1][2] or {}).get("deliver_to", []) == []
