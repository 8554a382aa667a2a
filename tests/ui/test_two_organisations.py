"""Two organisations at once, through the page: each sees its own work and nothing of the other's."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from rubrica_client import ApiError, Client, accounts, documents, preferences, reports, runs
from rubrica_client.models import Effort, NewRating, NewRun
from rubrica_client.request import Request
from tests.ui.real_api import PASSWORD, ServedApi, serve_real_api, sign_up
from tests.ui.real_page import CHROMIUM, LIMIT_MS, serve_page
from tests.ui.test_against_the_api import QUOTE, report


@pytest.fixture
def running(api_urls: tuple[str, str], postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedApi]:
    with serve_real_api(api_urls, postgres_url, report) as served:
        monkeypatch.setenv("RUBRICA_API_URL", served.url)
        yield served


def test_nothing_of_one_is_seen_by_the_other(running: ServedApi) -> None:
    """Every list, and every address of the other's work. Only a link that was handed over opens, for everybody, until it ends."""
    (birch_browser, birch), (alder_browser, alder) = (sign_up(running.url, name) for name in ("birch", "alder"))
    houses = {"birch": birch, "alder": alder}
    asked = {name: runs.create(NewRun(question=f"Which duties, {name}?", effort=Effort.QUICK)) for name in houses}
    begun = {name: api.send(asked[name]).id for name, api in houses.items()}
    rooms = {name: api.send(documents.create_collection(f"Papers of {name}")).id for name, api in houses.items()}
    for run in begun.values():
        running.report(run)
    for name, api in houses.items():
        assert [run.id for run in api.send(runs.list_()).items] == [begun[name]]
        assert [run.id for run in api.send(runs.list_(words="duties")).items] == [begun[name]]
        assert [room.id for room in api.send(documents.collections()).items] == [rooms[name]]
        assert [member.email for member in api.send(accounts.members()).items] == [f"ann@{name}.example"]
    mine, theirs = begun["alder"], begun["birch"]
    assert QUOTE.text in alder.send(reports.export(mine, "md")).decode()
    for look in looks(alder, theirs, rooms["birch"]):
        with pytest.raises(ApiError) as refused:
            look()
        assert refused.value.status == 404, refused.value

    link = birch.send(reports.share(theirs, 7))
    for browser in (birch_browser, alder_browser):
        opened = browser.get(f"/shared/{link.token}")
        assert "Lower." in opened.text
        assert opened.headers["content-security-policy"].startswith("sandbox")
        assert "alder" not in opened.text
    birch.send(reports.revoke_share(theirs, link.id))
    gone = alder_browser.get(f"/shared/{link.token}", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert (gone.status_code, "此链接已失效" in gone.text, "Lower." in gone.text) == (404, True, False)


def looks(api: Client, run: str, room: str) -> list[Callable[[], object]]:
    """Ways to look at a run and at a collection, and to change them."""
    calls: tuple[Request[object], ...] = (
        runs.get(run),
        reports.get(run),
        reports.export(run, "pdf"),
        runs.add_note(run, "hello"),
        reports.versions(run),
        reports.rewrite(run, 0, "rewrite", "", 1),
        reports.ask(run, "And silver?"),
        reports.share(run, 7),
        reports.figures(run),
        preferences.rate(run, NewRating(stars=1)),
        documents.collection(room),
        documents.upload(room, [("a.txt", b"words")]),
        documents.delete_collection(room),
    )
    return [lambda: next(api.stream(run)), *(partial(api.send, call) for call in calls)]


def test_a_form_that_comes_back_keeps_what_was_typed_and_says_why(running: ServedApi) -> None:
    """An address that has an account is told of it; a second organisation with its password is made."""
    browser, _ = sign_up(running.url, "hazel")
    origin, form = {"Origin": "http://page.example"}, {"organisation": "Rowan", "person": "Ann", "email": "ann@hazel.example"}
    refused = browser.post("/sign-up", data=form | {"password": "these are other words"}, headers=origin)
    assert refused.headers["location"].startswith("/sign-in?form=sign-up&refused=401")
    assert "hazel.example" not in refused.headers["location"]
    assert "other" not in str(browser.cookies)


@pytest.mark.slow
@pytest.mark.extra("Chromium", "playwright")
def test_two_people_sign_up_side_by_side(running: ServedApi) -> None:
    """In two browsers, at the same time, with the page between them; a link of the one leads the other nowhere."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=LIMIT_MS)
    with serve_page(running.url, key="") as url, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        pages = {name: browser.new_context().new_page() for name in ("linden", "cedar")}
        for name, page in pages.items():
            page.set_default_timeout(LIMIT_MS)
            page.goto(f"{url}/collections")
            page.get_by_role("link", name="I am new here").click()
            for label, typed in (
                ("Organisation", name),
                ("Your name", "Ann"),
                ("E-mail", f"ann@{name}.example"),
                ("A pass", PASSWORD),
            ):
                page.get_by_label(label).fill(typed)
            page.get_by_role("button", name="Sign up").click()
        for name, page in pages.items():
            page.get_by_label("A new collection").fill(f"Papers of {name}")
            page.get_by_role("button", name="Make it").click()
        for name, page in pages.items():
            sync_api.expect(page.get_by_role("heading", name=f"Papers of {name}")).to_be_visible()
            page.wait_for_url("**/collections?id=*")
        theirs = pages["linden"].url
        pages["cedar"].goto(theirs)
        sync_api.expect(pages["cedar"].get_by_role("alert")).to_contain_text("Not found")
        pages["cedar"].get_by_role("button", name="Collections").click()
        sync_api.expect(pages["cedar"].get_by_text("Papers of cedar")).to_be_visible()
        assert "linden" not in pages["cedar"].content()
        browser.close()
