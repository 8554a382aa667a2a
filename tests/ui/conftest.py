"""A fake API for each test, and the page that speaks to it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.patience import PATIENCE_S
from tests.ui.fake_api import FakeApi, serving

ENTRY = Path(__file__).parents[2] / "ui" / "main.py"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A listening API without runs."""
    with serving() as served:
        yield served


@pytest.fixture
def open_page(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens a page by its name (`ask`, `watch`, ...) with the given query parameters."""
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
