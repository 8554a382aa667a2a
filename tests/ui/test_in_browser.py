"""The page in a real browser. It needs what `make extras` installs and is skipped without it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: `make extras`")

from playwright import sync_api

from tests.ui.example_runs import QUOTE, add_finished_run, add_searching_run
from tests.ui.fake_api import FakeApi, serve_fake_api
from tests.ui.real_page import serve_page

pytestmark = [pytest.mark.slow, pytest.mark.extra("Chromium", "playwright")]


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    """One API for all; each test has a run of its own there."""
    with serve_fake_api() as served:
        yield served


@pytest.fixture(scope="module")
def url(api: FakeApi) -> Iterator[str]:
    """The page's server."""
    with serve_page(api.url) as address:
        yield address


def test_a_shared_link_opens_and_a_citation_shows_its_quote(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """The link to a report is the first request the server gets, as after a restart."""
    run = add_finished_run(api)
    assert api.received == []
    page.goto(f"{url}/read?run={run.id}")
    page.wait_for_selector("#r-card", state="attached")  # the listener has come
    number = page.locator("article .r-cite >> nth=0")
    number.focus()
    sync_api.expect(page.get_by_role("tooltip")).to_contain_text(QUOTE)
    number.press("Enter")
    drawer = page.get_by_role("dialog")
    sync_api.expect(drawer.locator("mark")).to_have_text(QUOTE)
    page.reload()
    sync_api.expect(drawer.locator("mark")).to_have_text(QUOTE)
    page.keyboard.press("Escape")
    sync_api.expect(drawer).to_have_count(0)
    page.wait_for_url(lambda address: "cite=" not in address)


def test_a_closed_citation_stays_closed_when_the_visitor_is_quicker_than_the_server(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """The browser learns from the server that the address has no citation any more; what it sends before still has one."""
    run = add_finished_run(api)
    held = _hold_answers(page)
    page.goto(f"{url}/read?run={run.id}&cite=1")
    drawer = page.get_by_role("dialog")
    sync_api.expect(drawer.locator("mark")).to_have_text(QUOTE)
    held.begin()
    page.keyboard.press("Escape")
    sync_api.expect(drawer).to_have_count(0)
    page.get_by_role("radio", name="中文").click()
    held.end()
    sync_api.expect(page.get_by_role("tab", name="目录")).to_be_visible()
    page.wait_for_url(lambda address: "cite=" not in address)
    sync_api.expect(drawer).to_have_count(0)
    page.get_by_role("radio", name="English").click()
    number = page.locator("article .r-cite >> nth=0")
    sync_api.expect(page.get_by_role("tab", name="Contents")).to_be_visible()
    number.click()
    sync_api.expect(drawer.locator("mark")).to_have_text(QUOTE)


def test_another_report_begins_at_its_top(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """For Streamlit it is the same page, which would stay where it was."""
    runs = [add_finished_run(api) for _ in range(2)]
    page.set_viewport_size({"width": 1280, "height": 300})
    page.goto(f"{url}/read?run={runs[0].id}")
    page.wait_for_selector("#r-card", state="attached")
    main = page.get_by_test_id("stMain")
    main.evaluate("element => element.scrollTo(0, 400)")
    assert main.evaluate("element => element.scrollTop") > 0
    page.locator(f'.st-key-latest a[href*="{runs[1].id}"]').click()
    page.wait_for_url(f"**/read?run={runs[1].id}")
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop === 0")


def test_a_narrow_screen_has_the_contents_before_the_text(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """What stands beside the text elsewhere comes after it there: after 60 sections, nobody finds it."""
    run = add_finished_run(api)
    page.goto(f"{url}/read?run={run.id}")
    folded = page.locator("details.r-contents")
    sync_api.expect(page.locator("article")).to_be_visible()
    sync_api.expect(folded).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    folded.locator("summary").click()
    sync_api.expect(folded.get_by_role("link").first).to_be_visible()


class _HeldAnswers:
    """What the page's server says, kept from the browser for a while, and how much the browser has asked."""

    def __init__(self, deliver: Callable[[str | bytes], None]) -> None:
        self.asked = 0
        self._deliver = deliver
        self._kept: list[str | bytes] | None = None

    def begin(self) -> None:
        self._kept = []

    def end(self) -> None:
        kept, self._kept = self._kept or [], None
        for message in kept:
            self._deliver(message)

    def pass_on(self, message: str | bytes) -> None:
        if self._kept is None:
            self._deliver(message)
        else:
            self._kept.append(message)


def _hold_answers(page: "sync_api.Page") -> _HeldAnswers:  # type: ignore[name-defined]
    """Let the test hold back what the server sends over the page's one websocket."""
    sockets: list[Any] = []
    held = _HeldAnswers(lambda message: sockets[-1].send(message))

    def connect(socket: Any) -> None:
        server = socket.connect_to_server()
        sockets.append(socket)
        server.on_message(held.pass_on)
        socket.on_message(lambda message: ask(server, message))

    def ask(server: Any, message: str | bytes) -> None:
        held.asked += 1
        server.send(message)

    page.route_web_socket("**/_stcore/stream", connect)
    return held


def test_progress_appears_without_a_reload(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    run = add_searching_run(api)
    page.goto(f"{url}/watch?run={run.id}")
    sync_api.expect(page.locator(".r-step.waiting")).to_have_count(2)
    page.get_by_role("tab", name="Log").click()
    run.emit("stage_started", {"stage": "search/s3", "title": ""}, "search/s3")
    sync_api.expect(page.locator(".r-step.waiting")).to_have_count(1)
    sync_api.expect(page.locator(".r-log")).to_be_visible()
    follow = page.get_by_placeholder("A further question")
    run.report = add_finished_run(api).report
    run.emit("status_changed", {"status": "completed", "detail": ""})
    sync_api.expect(page.get_by_role("button", name="Download")).to_be_visible()
    page.get_by_role("tab", name="Questions").click()
    sync_api.expect(follow).to_be_in_viewport()
    sync_api.expect(page).to_have_title("Tariffs before 1900 · Report · Rubrica")


def test_the_report_stays_when_a_refresh_of_the_page_before_comes_late(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """While the server makes the report's page, the browser, which does not know it yet, still asks for the progress."""
    run = add_searching_run(api)
    held = _hold_answers(page)
    page.goto(f"{url}/watch?run={run.id}")
    sync_api.expect(page.locator(".r-step.waiting")).to_have_count(2)
    held.begin()
    api.delay = 0.3
    run.report = add_finished_run(api).report
    run.emit("status_changed", {"status": "completed", "detail": ""})
    seen = held.asked
    while held.asked < seen + 12:
        page.wait_for_timeout(100)
    api.delay = 0.0
    held.end()
    sync_api.expect(page.get_by_role("button", name="Download")).to_be_visible()
    page.wait_for_timeout(1_000)  # what would empty the page comes after the page
    assert page.get_by_role("button", name="Download").is_visible()


NOTICES = """
let hidden = false
Object.defineProperty(document, "hidden", { get: () => hidden })
window.hide = () => { hidden = true }
window.Notification = class {
  static permission = "default"
  static async requestPermission() { return this.permission = "granted" }
  constructor(title, options) { document.body.dataset.given = `${title}: ${options.body}` }
}"""


def test_a_notice_comes_when_the_run_is_over_and_the_page_is_not_in_view(
    api: FakeApi,
    url: str,
    page: "sync_api.Page",  # type: ignore[name-defined]
) -> None:
    """The browser's notices stand in for themselves: without a screen it shows none."""
    run = add_searching_run(api)
    page.add_init_script(NOTICES)
    page.goto(f"{url}/watch?run={run.id}")
    page.get_by_role("button", name="Tell me when it is done").click()
    sync_api.expect(page.get_by_text("Your browser will tell you")).to_be_visible()
    page.evaluate("hide()")
    run.report = add_finished_run(api).report
    run.emit("status_changed", {"status": "completed", "detail": ""})
    sync_api.expect(page.get_by_role("button", name="Download")).to_be_visible()
    notice = f"Rubrica · Report ready: {run.fields['query']['question']}"
    sync_api.expect(page.locator("body")).to_have_attribute("data-given", notice)
    page.reload()
    sync_api.expect(page.get_by_role("button", name="Download")).to_be_visible()
    sync_api.expect(page.locator("body")).not_to_have_attribute("data-given", notice)
