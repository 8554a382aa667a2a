"""axe-core on every page of the user interface, in a headless Chromium, in light and in dark."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from bench.conformance.outcome import NotRun, Outcome, count_checks
from bench.conformance.packages import find_package
from bench.fuzz_api import FuzzTarget, start_target
from bench.page import serve_page
from infra.extras import find_browser
from tests.support.patience import PATIENCE_S

WORK = ("", "history", "compare", "collections", "schedules")
ORGANISATION = ("team", "account", "webhooks", "audit", "usage", "models")
OF_A_RUN = ("watch?run={run}", "read?run={run}", "source?run={run}&n=1", "side-by-side?run={run}", "annotate")
FOR_STRANGERS = ("sign-in",)
SCHEMES = ("light", "dark")
# The framework writes its menu so; no setting reaches it.
MENU = {"the menu's list": "Streamlit writes its menu as a list whose entries stand in boxes; no setting reaches that"}
MENU_RULES, MENU_LIST = ("list", "listitem"), "[data-testid=stSidebarNavItems]"
# The others are of taste, or about parts of the framework that no setting reaches.
IMPACTS = ("serious", "critical")
RUN_AXE = """([rules, menu]) => axe.run({ resultTypes: ["violations"] }).then(({ violations }) => {
  const ofMenu = node => document.querySelector(node.target[0])?.closest(menu);
  return violations.map(found => rules.includes(found.id)
    ? { ...found, nodes: found.nodes.filter(node => !ofMenu(node)) } : found).filter(found => found.nodes.length);
})"""
# The page is drawn piece by piece: it is at rest when nothing has changed for a while.
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"


def check_pages(folder: Path) -> Outcome:
    """Look at each page in both schemes: a check fails where axe finds something serious."""
    axe = (find_package(folder, "axe-core") / "axe.min.js").read_text()
    with tempfile.TemporaryDirectory() as place, start_target(Path(place) / "api") as target, _open_browser() as browser:
        pages = [page.format(run=_finish_a_run(target)) for page in (*WORK, *ORGANISATION, *OF_A_RUN)]
        found = list(_look_at(browser, axe, target.address, target.key, pages))
        found += _look_at(browser, axe, target.address, "", FOR_STRANGERS)
    return count_checks(found, MENU)


@contextmanager
def _open_browser() -> Iterator[Any]:
    path = find_browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        raise NotRun("it needs playwright and a Chromium (`make extras`)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def _finish_a_run(target: FuzzTarget) -> str:
    """Ask a question and wait for its report; return the run's id."""
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {target.key}"
        run = session.post(f"{target.address}/v1/runs", json={"question": "Who taxed wool?"}, timeout=60).json()["id"]
        while session.get(f"{target.address}/v1/runs/{run}", timeout=60).json()["status"] != "completed":
            time.sleep(0.2)
    return str(run)


def _look_at(browser: Any, axe: str, api: str, key: str, pages: Sequence[str]) -> Iterator[tuple[str, str]]:
    with serve_page(api, key) as (address, _):
        for scheme in SCHEMES:
            window = browser.new_context(color_scheme=scheme, locale="en-GB")
            window.set_default_timeout(PATIENCE_S * 1000)
            for page in pages:
                tab = window.new_page()
                tab.goto(f"{address}/{page}")
                tab.wait_for_selector(AT_REST)
                tab.wait_for_load_state("networkidle")
                tab.evaluate(axe)
                yield f"{page.partition('?')[0] or 'ask'}, {scheme}", _describe(tab.evaluate(RUN_AXE, [MENU_RULES, MENU_LIST]))
                tab.close()
            window.close()


def _describe(violations: Sequence[dict[str, Any]]) -> str:
    """Return the serious findings, each with the number of its places and the first one."""
    serious = [found for found in violations if found["impact"] in IMPACTS]
    return "; ".join(f"{found['id']} ({len(found['nodes'])}): {found['nodes'][0]['html'][:160]}" for found in serious)
