"""The team, keys, own documents, schedules, usage, and signing in, as a visitor meets them."""

from collections.abc import Callable
from urllib.parse import unquote

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from app.accounts.nouns.access import AccessScope
from tests.support.patience import PATIENCE_S
from tests.ui.conftest import ENTRY
from tests.ui.example_runs import add_finished_run
from tests.ui.fake_accounts import SECRET, TOKEN, add_collection, add_organisation, add_schedule, add_usage
from tests.ui.fake_api import FakeApi
from tests.ui.test_pages import shown
from ui.language import load_table
from ui.server import SecurityHeaders
from ui.sign_in import ROUTES, SessionRenewal

OpenPage = Callable[..., AppTest]


def test_an_owner_changes_roles_invites_and_makes_keys(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api)
    app = open_page("team")
    assert "Custom &lt;House&gt;" in shown(app)
    app.selectbox(key="role_u2").set_value("admin").run()
    assert api.commands()[-1] == ("PATCH", "u2", {"role": "admin"})
    api.answer("PATCH", r"/v1/members/\w+", lambda *_: (403, "an organisation needs an owner"))
    app.selectbox(key="role_u2").set_value("viewer").run()
    assert app.selectbox(key="role_u2").value == "member", "what is shown is what holds"
    app.text_input(key="invite_email").set_value("cy@example.org")
    next(button for button in app.button if button.label == "Invite").click().run()
    assert "/sign-in?form=join&token=hand-me-over" in [code.value for code in app.code]
    assert "<dt>runs:write</dt><dd>ask questions, steer runs, delete them</dd>" in shown(app)
    explained = {key.removeprefix("scope.").replace("_", ":") for key in load_table("en") if key.startswith("scope.")}
    assert explained == set(AccessScope), "each has its line"
    app.text_input(key="key_name").set_value("nightly")
    next(button for button in app.button if button.label == "Make the key").click().run()
    assert SECRET in [code.value for code in app.code]
    assert SECRET not in [code.value for code in app.run().code], "a key is shown once"
    app.button(key="revoke_k1").click().run()
    assert ("DELETE", "k1", None) in api.commands()


def test_a_member_sees_the_team_and_changes_their_own_keys_alone(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api, "member")
    app = open_page("team")
    assert "bo@example.org" in shown(app)
    assert not [box for box in app.selectbox if box.key == "role_u2"]
    assert not [button for button in app.button if button.key == "remove_u2"]
    app.button(key="revoke_k1").click().run()
    assert api.commands() == [("DELETE", "k1", None)]


def test_documents_are_sent_followed_shared_and_deleted(api: FakeApi, open_page: OpenPage) -> None:
    add_collection(api)
    assert "2 documents · 1.2 MB · Everybody" in shown(open_page("collections"))
    app = open_page("collections", id="c1")
    assert "being indexed" in shown(app)
    assert "no text: &lt;i&gt;scanned&lt;/i&gt;" in shown(app)
    app.file_uploader(key="files_0").upload("peel.pdf", b"%PDF-1.7", "application/pdf").run()
    assert [path for method, path, _ in api.commands() if method == "POST"] == ["documents"], (
        "sent once, without a further button"
    )
    assert not app.file_uploader(key="files_1").value
    assert "not a kind of file that is read" in shown(app)
    app.toggle(key="access_everyone").set_value(False).run()
    app.multiselect(key="access_roles").set_value(["owner"])
    app.button(key="access_set").click().run()
    assert ("PUT", "access", {"everyone": False, "users": [], "roles": ["owner"]}) in api.commands()
    app.button(key="delete_d2").click().run()
    assert ("DELETE", "d2", None) in api.commands()


def test_files_are_sent_once_whatever_becomes_of_them(api: FakeApi, open_page: OpenPage) -> None:
    add_collection(api)
    api.answer("POST", "/v1/collections/c1/documents", lambda *_: (503, "the disk is full"))
    app = open_page("collections", id="c1")
    app.file_uploader(key="files_0").upload("peel.pdf", b"%PDF-1.7", "application/pdf").run()
    assert "The disk is full" in shown(app)
    app.run()
    assert len([path for method, path, _ in api.commands() if method == "POST"]) == 1
    assert "The disk is full" not in shown(app)


def test_more_files_than_the_api_takes_at_once_go_one_lot_after_another(api: FakeApi, open_page: OpenPage) -> None:
    add_collection(api)
    files = [(f"{n}.txt", b"words", "text/plain") for n in range(51)]
    open_page("collections", id="c1").file_uploader(key="files_0").set_value(files).run()
    lots = [body["raw"].count(b"filename=") for method, _, body in api.commands() if method == "POST" and body]
    assert lots == [50, 1]


def test_a_schedule_tells_first_what_no_longer_holds(api: FakeApi, open_page: OpenPage) -> None:
    add_schedule(api)
    app = open_page("schedules", id="s1")
    html = shown(app)
    assert "1 claim no longer holds · 1 new source" in html
    assert html.index("Duties were lowered.") < html.index("It was &lt;raised&gt;.")
    assert "<b>Before:</b> It was lowered." in html
    assert "<b>Now:</b> It was &lt;raised&gt;." in html
    assert [link.label for link in app.get("page_link")][-2:] == ["Read the report", "The report it was compared with"]
    app.button(key="pause_schedule").click().run()
    assert api.commands()[-1] == ("PATCH", "s1", {"paused": True})
    run = add_finished_run(api)
    reading = open_page("read", run=run.id)
    reading.button(key="repeat").click().run()
    sent = api.commands()[-1][2] or {}
    assert (sent["from_run"], sent["timing"]["cron"]) == (run.id, "0 7 * * mon")


def test_usage_stands_against_its_limits_which_an_owner_sets(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api)["scopes"].append("organisation:write")
    add_usage(api)
    app = open_page("usage")
    html = shown(app)
    assert "of 100k" in html
    assert 'style="width:45%"' in html
    assert "search &lt;web&gt;" in html
    assert "<td>2 runs</td><td>deleted</td><td>–</td>" in html
    assert "second report, for a comparison" in "".join([html, *(block.value for block in app.caption)])
    assert [link.label for link in app.get("page_link")][-1].startswith("Dear")
    app.number_input(key="quota_cost").set_value(25.0)
    app.button(key="quota_set").click().run()
    asked = {
        "requests_per_minute": 60,
        "concurrent_runs": None,
        "tokens_per_month": 100_000,
        "cost_microusd_per_month": 25_000_000,
    }
    assert api.commands()[-1] == ("PUT", "quotas", asked)


def test_limits_of_nothing_are_shown_and_kept(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api)["scopes"].append("organisation:write")
    add_usage(api)
    none = {"tokens_per_month": 0, "cost_microusd_per_month": 0, "concurrent_runs": 0}
    api.answer("GET", "/v1/quotas", lambda *_: {"organisation": none, "keys": [], "used": {"runs": 0, "tokens": 0}})
    app = open_page("usage")
    assert shown(app).count("of 0") + shown(app).count("of $0") == 3
    app.number_input(key="quota_requests").set_value(30)
    app.button(key="quota_set").click().run()
    assert api.commands()[-1] == ("PUT", "quotas", none | {"requests_per_minute": 30})


def test_consent_is_ones_own_and_the_organisations_an_owners(api: FakeApi, open_page: OpenPage) -> None:
    add_organisation(api, "member")
    add_usage(api)
    app = open_page("account")
    assert app.toggle(key="consent_organisation").disabled
    app.toggle(key="consent_person").set_value(True).run()
    assert api.commands()[-1] == ("PUT", "consent", {"person": True, "organisation": None})
    api.answer("PUT", "/v1/consent", lambda *_: (503, "the database is away"))
    app.toggle(key="consent_person").set_value(False).run()
    assert app.toggle(key="consent_person").value, "it is still given"
    assert not [form for form in app.expander if "password" in form.label], "who has no session has no password to change here"


def test_a_stranger_gets_a_form_and_no_page(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICA_API_URL", api.url)
    monkeypatch.delenv("RUBRICA_API_KEY", raising=False)
    app = AppTest.from_file(ENTRY, default_timeout=PATIENCE_S).run()
    html = shown(app)
    assert 'action="/enter"' in html
    assert "r-label" not in html.partition("<style>")[0]
    assert not app.text_area
    assert "oidc" not in html
    monkeypatch.setenv("RUBRICA_PUBLIC_URL", "https://x.example/")
    monkeypatch.setenv("RUBRICA_OIDC_ISSUER", "https://id.example")
    app.query_params["refused"] = "provider_late"
    html = shown(app.run())
    assert "was begun in another browser. Begin again below." in html
    assert "/v1/oidc/start" in html
    app.query_params["refused"] = "provider_<b>"
    assert "Signing in did not work." in shown(app.run())
    del app.query_params["refused"]
    app.query_params["run"] = "7"
    assert 'href="https://x.example/v1/oidc/start?back=%2F%3Frun%3D7"' in shown(app.run())


def test_links_that_were_mailed_lead_to_their_forms(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICA_API_URL", api.url)
    monkeypatch.delenv("RUBRICA_API_KEY", raising=False)
    app = AppTest.from_file(ENTRY, default_timeout=PATIENCE_S).run()
    assert "form=forgot" not in shown(app), "this installation sends no mail"
    monkeypatch.setenv("RUBRICA_SMTP_HOST", "mail.example")
    assert "form=forgot" in shown(app.run())
    for form in ("reset", "verify"):
        app.query_params["form"], app.query_params["token"] = form, "from-the-mail"
        html = shown(app.run())
        assert f'action="/{form}"' in html
        assert 'name="token" autocomplete="off" value="from-the-mail"' in html
        assert ('name="password"' in html) == (form == "reset")
    app.query_params["done"] = "forgot"
    assert "a link is on its way" in shown(app.run())


def test_who_has_not_confirmed_their_address_is_told_and_gets_another_link(
    api: FakeApi, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_organisation(api)["verified"] = False
    api.answer("GET", "/v1/consent", lambda *_: {"person_since": None, "organisation_since": None, "given": False})
    api.answer("POST", "/v1/me/verification", lambda *_: None)
    assert "not confirmed" not in shown(open_page("account")), "nobody could confirm it here"
    monkeypatch.setenv("RUBRICA_SMTP_HOST", "mail.example")
    app = open_page("account")
    assert "not confirmed yet" in shown(app)
    app.button(key="send_link").click().run()
    assert ("POST", "verification", None) in api.commands()


@pytest.fixture
def server(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """The page's server without Streamlit behind it."""
    monkeypatch.setenv("RUBRICA_API_URL", api.url)
    behind = Starlette(routes=ROUTES, middleware=[Middleware(SecurityHeaders), Middleware(SessionRenewal)])
    return TestClient(behind, base_url="http://page.example", follow_redirects=False)


def test_signing_in_hands_the_cookie_on_and_keeps_scripts_from_it(api: FakeApi, server: TestClient) -> None:
    api.cookie = f"rubrica_session={TOKEN}; HttpOnly; Path=/; SameSite=lax"
    api.answer("POST", "/v1/session", lambda *_: {})
    form = {"email": "ann@example.org", "password": "correct horse"}
    answer = server.post("/enter", data=form, headers={"Origin": "http://page.example"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["set-cookie"].startswith(f"rubrica_session={TOKEN}; HttpOnly")
    assert api.commands() == [("POST", "session", form)]
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_a_form_from_elsewhere_and_a_wrong_password_are_refused(api: FakeApi, server: TestClient) -> None:
    for origin in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {}):
        assert server.post("/enter", data={"email": "a"}, headers=origin).status_code == 403
    assert api.commands() == []
    api.answer("POST", "/v1/session", lambda *_: (401, "no"))
    answer = server.post("/enter", data={"email": "a", "password": "b"}, headers={"Origin": "http://page.example"})
    assert answer.headers["location"] == "/sign-in?form=enter&refused=401"
    assert unquote(unquote(answer.cookies["rubrica_typed"])) == '{"email": "a"}', "the password is not among what was typed"
    assert "rubrica_session" not in answer.headers["set-cookie"]


def test_a_forgotten_password_goes_by_forms_of_this_server(api: FakeApi, server: TestClient) -> None:
    origin = {"Origin": "http://page.example"}
    for path, form, there in (
        ("/v1/password-resets", {"email": "ann@example.org"}, "/sign-in?done=forgot"),
        ("/v1/password-resets/accept", {"token": "t", "password": "correct horse"}, "/"),
        ("/v1/verifications", {"token": "t"}, "/sign-in?done=verify"),
    ):
        api.answer("POST", path, lambda *_: {})
        name = {"/v1/password-resets": "/forgot", "/v1/verifications": "/verify"}.get(path, "/reset")
        assert server.post(name, data=form, headers=origin).headers["location"] == there
        assert api.commands()[-1][2] == form


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example/", "/\\evil.example", "read", "/a\nb", ""])
def test_signing_in_leads_nowhere_else(api: FakeApi, server: TestClient, back: str) -> None:
    api.answer("POST", "/v1/session", lambda *_: {})
    origin = {"Origin": "http://page.example"}
    wanted = {"email": "a", "password": "b", "back": "/read?run=1&cite=2"}
    assert server.post("/enter", data=wanted, headers=origin).headers["location"] == "/read?run=1&cite=2"
    assert server.post("/enter", data=wanted | {"back": back}, headers=origin).headers["location"] == "/"
