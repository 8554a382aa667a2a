"""The audit log and webhooks, as those who look after an organisation meet them."""

from collections.abc import Callable
from datetime import date

from streamlit.testing.v1 import AppTest

from tests.ui.fake_accounts import add_organisation
from tests.ui.fake_api import FakeApi
from tests.ui.fake_webhooks import SIGNING, add_audit_log, add_webhook
from tests.ui.test_pages import shown

OpenPage = Callable[..., AppTest]
ALL = ["audit:read", "webhooks:read", "webhooks:write"]


def test_the_audit_log_is_read_narrowed_and_paged(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api)["scopes"] += ALL
    add_audit_log(api)
    app = open_page("audit")
    html = shown(app)
    for told in ("ann@example.org", "added a webhook", "&lt;b&gt;hooks.example", "something newer", "erased", "203.0.113.9"):
        assert told in html, told
    assert "with the key 01234567" in html
    app.selectbox(key="audit_action").set_value("role_changed").run()
    app.selectbox(key="audit_user_id").set_value("u2").run()
    app.date_input(key="audit_since").set_value(date(2026, 1, 2)).run()
    narrowed = {name: "".join(value) for name, value in app.query_params.items()}
    assert narrowed == {"action": "role_changed", "user_id": "u2", "since": "2026-01-02"}
    again = open_page("audit", **narrowed, before="a3")
    assert again.selectbox(key="audit_action").value == "role_changed", "the address brings it back"
    again.selectbox(key="audit_action").set_value("signed_in").run()
    assert "before" not in again.query_params, "another choice begins at the newest entry"
    chinese = open_page("audit", lang="zh")
    chinese.segmented_control(key="language_choice").set_value("zh").run()
    assert "添加 Webhook" in shown(chinese)


def test_a_secret_is_shown_once_and_messages_are_sent_again(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api)["scopes"] += ALL
    add_webhook(api)
    app = open_page("webhooks")
    assert "410 Gone" in shown(app)
    assert '<span class="r-pill failed">failing since' in shown(app), "it is seen in the list, not read"
    app.text_input(key="webhook_url").set_value(" https://hooks.example/in ")
    app.multiselect(key="webhook_events").set_value(["run.failed"])
    next(button for button in app.button if button.label == "Add it").click().run()
    sent = {"url": "https://hooks.example/in", "description": "", "events": ["run.failed"]}
    assert api.commands()[-1] == ("POST", "webhooks", sent)
    assert [method for method, path, _ in api.received if path == "/v1/webhooks"][-2:] == ["POST", "GET"], (
        "the list has the new one"
    )
    assert SIGNING in [code.value for code in app.run().code], "the page refreshes itself before anybody has copied it"
    assert SIGNING not in [code.value for code in open_page("webhooks").code], "a secret is shown once"

    app = open_page("webhooks", id="w1")
    html = shown(app)
    assert "Night &lt;watch&gt;" in html
    assert "3 attempts · &lt;i&gt;busy" in html
    assert "waits for the next try" in html
    assert not [button for button in app.button if str(button.key).startswith("replay")], "nothing is sent where it is off"
    app.button(key="webhook_turn").click().run()
    assert api.commands()[-1] == ("PATCH", "w1", {"enabled": True})
    app.button(key="replay_d1").click().run()
    assert api.commands()[-1] == ("POST", "replay", None)
    app.button(key="webhook_rotate").click().run()
    assert SIGNING + "-too" in [code.value for code in app.run().code]
    app.query_params["before"] = "d3"
    app.button_group(key="delivery_state").set_value("failed").run()
    assert "before" not in app.query_params, "the newest come first"
    app.button(key="delete_it").click().run()
    assert api.commands()[-1] == ("DELETE", "w1", None)


def test_who_may_not_look_is_not_led_there_and_is_told_why(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api, "member")
    for path in ("/v1/audit", "/v1/webhooks"):
        api.answer("GET", path, lambda *_: (403, "this needs a scope which your role (member) does not have"))
    for page in ("audit", "webhooks"):
        assert "your role (member)" in shown(open_page(page))
