"""A new password through the page: what the account has open is listed, and what is ticked stays."""

from collections.abc import Iterator

import pytest

from rubrica_client import ApiError, Client, accounts, webhooks
from rubrica_client.models import AccessScope, NewKey, NewWebhook
from tests.ui.real_api import PASSWORD, ServedApi, serve_real_api, sign_up
from tests.ui.real_page import CHROMIUM, LIMIT_MS, serve_page
from tests.ui.test_against_the_api import report
from ui.session import open_client
from ui.sign_in import SESSION_COOKIE

NEW = "four other words for it"
ORIGIN = {"Origin": "http://page.example"}


@pytest.fixture
def running(api_urls: tuple[str, str], postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedApi]:
    with serve_real_api(api_urls, postgres_url, report) as served:
        monkeypatch.setenv("RUBRICA_API_URL", served.url)
        yield served


def make_keys(api: Client, *names: str) -> dict[str, str]:
    return {name: api.send(accounts.make_key(NewKey(name=name, scopes=[AccessScope.ACCOUNT_READ]))).key for name in names}


def is_good(url: str, key: str) -> bool:
    try:
        open_client(url, {"Authorization": f"Bearer {key}"}).send(accounts.me())
    except ApiError as error:
        return error.status != 401
    return True


def test_the_form_keeps_what_is_ticked(running: ServedApi) -> None:
    browser, api = sign_up(running.url, "maple")
    keys = make_keys(api, "mine", "also mine", "a thief's")
    open_ = {item.name: item.id for item in api.send(accounts.access()).items}
    form = {"current": PASSWORD, "new": NEW, "keep": [open_["mine"], open_["also mine"]]}
    refused = browser.post("/password", data=form | {"current": "not it at all"}, headers=ORIGIN)
    assert refused.headers["location"].startswith("/account?form=password&refused=401")
    assert all(is_good(running.url, key) for key in keys.values())
    done = browser.post("/password", data=form, headers=ORIGIN)
    assert (done.status_code, done.headers["location"]) == (303, "/account?done=password")
    assert {name: is_good(running.url, key) for name, key in keys.items()} == {
        "mine": True,
        "also mine": True,
        "a thief's": False,
    }


@pytest.mark.slow
@pytest.mark.extra("Chromium", "playwright")
def test_the_list_is_seen_and_ticked_in_a_browser(running: ServedApi) -> None:
    from playwright import sync_api

    sync_api.expect.set_options(timeout=LIMIT_MS)
    browser_, api = sign_up(running.url, "willow")
    keys = make_keys(api, "nightly <report>", "a thief's")
    sign_up_again = browser_.post("/enter", data={"email": "ann@willow.example", "password": PASSWORD}, headers=ORIGIN)
    assert sign_up_again.status_code == 303
    api.send(webhooks.create(NewWebhook(url="https://thief.example/hook")))
    with serve_page(running.url, key="") as url, sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = chromium.new_context()
        context.add_cookies([{"name": SESSION_COOKIE, "value": browser_.cookies[SESSION_COOKIE], "url": url}])
        page = context.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.goto(f"{url}/account")
        page.get_by_text("Change the password").click()
        sync_api.expect(page.get_by_text("https://thief.example/hook")).to_be_visible()
        sync_api.expect(page.get_by_role("checkbox")).to_have_count(3)
        page.get_by_role("checkbox", name="nightly <report>").check()
        page.get_by_label("Your password now").fill(PASSWORD)
        page.get_by_label("The new one").fill(NEW)
        page.get_by_role("button", name="Change it").click()
        sync_api.expect(page.get_by_role("status")).to_contain_text("everything that you did not keep has ended")
        chromium.close()
    assert [name for name, key in keys.items() if is_good(running.url, key)] == ["nightly <report>"]
