"""`python -m bench.page`: measure whether the page stays responsive with a log of 10,000 events and a report of 60 pages.

A real Chromium looks at the real page over a stub of the API. It needs `pip install playwright` and a Chromium. Times are what a
person waits: from the address to a page that answers, from an event at the API to its line in the log, from a click on a citation
to the quotation in its source, from a click on a switch to the page drawn anew.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from bench.page_stub import LargeRun, serve_runs
from bench.result import print_result, print_skipped
from infra.extras import find_browser
from infra.local.ports import LOOPBACK, find_free_port
from tests.support.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 8
CPU_WINDOW_S = 10.0


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=60)
    given = parser.parse_args()
    browser = find_browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print_skipped("page", "needs `pip install playwright` and a Chromium on this machine")
        return
    watched, read = LargeRun("watched", "running", given.events, 1), LargeRun("read", "completed", 10, given.pages)
    with serve_runs([watched, read]) as api, serve_page(api) as (url, server), sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        open_page(chromium).goto(url)  # the server's first visit loads its modules
        time.sleep(3)
        figures = measure_watching(chromium, url, watched, server) | measure_reading(chromium, url)
        figures["server_mb"] = server.memory_info().rss / 1e6
        chromium.close()
    print_result("page", {"events": given.events, "report_pages": given.pages} | figures)


def open_page(chromium: Any) -> Any:
    """Open a page of the browser that waits as long as a busy machine takes."""
    page = chromium.new_page()
    page.set_default_timeout(1_000 * PATIENCE_S)
    return page


def measure_watching(chromium: Any, url: str, run: LargeRun, server: psutil.Process) -> dict[str, float]:
    """Measure the progress page of the run with the long log."""
    page = open_page(chromium)
    load = time_action(lambda: page.goto(f"{url}/watch?run={run.id}") and page.wait_for_selector(".r-step.running"))
    page.get_by_role("tab", name="Log").click()
    caught_up = time_action(lambda: page.wait_for_selector(f"text={len(run.log):,} events"))
    delays = [time_action(lambda: page.wait_for_selector(f"text={run.emit():,} events")) for _ in range(ROUNDS)]
    began, used = time.monotonic(), _measure_cpu(server)
    while time.monotonic() - began < CPU_WINDOW_S:
        run.emit()
        time.sleep(0.5)
    share = (_measure_cpu(server) - used) / (time.monotonic() - began)
    page.close()
    return {
        "watch_load_s": load,
        "watch_all_events_s": load + caught_up,
        "event_p50_s": statistics.median(delays),
        "event_max_s": max(delays),
        "watch_cpu_share": share,
    }


def measure_reading(chromium: Any, url: str) -> dict[str, float]:
    """Measure the report of many pages: until it answers, until a quotation is seen, and how long a redrawing takes."""
    page = open_page(chromium)
    first = time_action(lambda: page.goto(f"{url}/read?run=read") and page.wait_for_selector("#r-card", state="attached"))
    again = time_action(lambda: page.reload() and page.wait_for_selector("#r-card", state="attached"))
    numbers = page.locator("article .r-cite")
    quotes = []
    for n in range(ROUNDS):
        numbers.nth(n * 7).scroll_into_view_if_needed()
        quotes.append(time_action(partial(_open_citation, page, numbers.nth(n * 7))))
        page.keyboard.press("Escape")
        page.wait_for_selector("[role=dialog]", state="detached")
    page.mouse.wheel(0, 200_000)
    switches = [time_action(partial(_switch_language, page, lang)) for lang in ("zh", "en") * (ROUNDS // 2)]
    page.close()
    return {
        "read_load_s": first,
        "read_reload_s": again,
        "quote_p50_s": statistics.median(quotes),
        "quote_max_s": max(quotes),
        "rerun_p50_s": statistics.median(switches),
    }


def _open_citation(page: Any, number: Any) -> None:
    """Click on a citation and see the quotation in its source."""
    number.click()
    page.wait_for_selector("[role=dialog] mark")


def _switch_language(page: Any, language: str) -> None:
    """Switch the language, which draws the whole page anew."""
    page.get_by_role("radio", name={"zh": "中文", "en": "English"}[language]).click()
    page.wait_for_selector(f"html[lang={language}]", state="attached")
    page.get_by_role("tab", name={"zh": "目录", "en": "Contents"}[language]).wait_for()


def time_action(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _measure_cpu(server: psutil.Process) -> float:
    times = server.cpu_times()
    return float(times.user + times.system)


@contextmanager
def serve_page(api: str, key: str = "rbk_bench") -> Iterator[tuple[str, psutil.Process]]:
    """Serve the page as the local stack does, or without a key for strangers; yield its address and process."""
    port = find_free_port()
    options = ["--server.headless=true", f"--server.address={LOOPBACK}", f"--server.port={port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ui", *options],
        env=os.environ | {"RUBRICA_API_URL": api, "RUBRICA_API_KEY": key, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://{LOOPBACK}:{port}"
    try:
        _wait_for(f"{url}/_stcore/health")
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


if __name__ == "__main__":
    main()
