"""Fixtures: a fake API for each test, and the page that speaks to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.patience import PATIENCE_S
from tests.ui.fake_api import FakeApi, serve_fake_api
from tests.ui.real_page import CHROMIUM, LIMIT_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ENTRY = Path(__file__).parents[2] / "ui" / "main.py"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A listening API without runs."""
    with serve_fake_api() as served:
        yield served


@pytest.fixture
def open_page(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """A function that opens a page by its name (`ask`, `watch`, ...) with the given query parameters."""
    monkeypatch.setenv("RUBRICA_API_URL", api.url)
    monkeypatch.setenv("RUBRICA_API_KEY", "rbk_local")

    def opened(page: str, **query: str) -> AppTest:
        app = AppTest.from_file(ENTRY, default_timeout=PATIENCE_S)
        app.run()
        app.query_params.clear()
        for name, value in query.items():
            app.query_params[name] = value
        return app.switch_page(f"views/{page}.py").run()

    return opened


@pytest.fixture
def follow_link() -> Callable[[AppTest], AppTest]:
    """A function that follows the link to another page, as a browser does by itself."""

    def followed(app: AppTest) -> AppTest:
        (link,) = app.main.get("page_link")
        app.query_params.clear()
        for name, values in parse_qs(link.proto.query_string).items():
            app.query_params[name] = values[0]
        return app.switch_page(f"views/{link.proto.page.replace('-', '_')}.py").run()

    return followed


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """One real browser for all of a file's tests. Not for files with tests that are coroutines: it holds the thread's loop."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=LIMIT_MS)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: "Browser") -> "Iterator[Page]":
    """A window of a new visitor: contexts of a browser share nothing."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(LIMIT_MS)
    yield context.new_page()
    context.close()
