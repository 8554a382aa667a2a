"""A report that is being written can be read meanwhile, and its progress says how long it still takes."""

from collections.abc import Callable
from datetime import timedelta

from streamlit.testing.v1 import AppTest

from rubrica_client.models import RunEvent
from tests.ui.example_runs import QUOTE, SOURCE, SPEECH, add_finished_run, add_searching_run
from tests.ui.fake_api import START, FakeApi, FakeRun
from tests.ui.fake_asking import add_estimate
from tests.ui.test_pages import caught_up, shown
from ui.agent_names import name_agent
from ui.pace import estimate_left, measure_share
from ui.progress import WatchedProgress, fold_events

OpenPage = Callable[..., AppTest]


def start_writing(run: FakeRun) -> None:
    """Let the run outline a report of two sections, and write the second."""
    run.emit("stage_started", {"stage": "report", "title": "Report"}, "report")
    sections = [{"section": 1, "heading": "Revenue <first>"}, {"section": 3, "heading": "Protection"}]
    run.emit("outline_made", {"title": "Why tariffs", "sections": sections}, "report")
    for number in (1, 3):
        run.emit("model_call", {"step": "section", "model": "stub"}, f"report/section/{number}")
    start = SPEECH.index(QUOTE)
    cited = {"n": 7, "quote": QUOTE, "start": start, "end": start + len(QUOTE), "source": SOURCE}
    written = {"section": 3, "heading": "Protection", "markdown": "Home products were to compete [7].", "citations": [cited]}
    run.emit("section_written", written, "report/section/3")


def progress_of(run: FakeRun) -> WatchedProgress:
    return fold_events([RunEvent.model_validate(event) for event in run.events])


def test_sections_are_read_as_they_finish_and_the_page_goes_on_to_the_report(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    app = open_page("read", run=run.id)
    assert "It appears here by itself" in shown(app)
    start_writing(run)
    while "Home products" not in shown(app):
        app.run()
    html = shown(app)
    assert "Revenue &lt;first&gt;" in html
    assert "Not written yet" in html
    assert 'data-cite="7"' in html
    assert "1 of 2 sections written" in html
    finished = add_finished_run(api)
    run.report = finished.report
    run.emit("status_changed", {"status": "completed", "detail": ""})
    while not app.download_button:
        app.run()


def test_watching_offers_to_read_along_and_opens_the_report_at_its_end(
    api: FakeApi, open_page: OpenPage, follow_link: Callable[[AppTest], AppTest]
) -> None:
    run = add_searching_run(api)
    start_writing(run)
    app = caught_up(open_page("watch", run=run.id), len(run.events)).run()
    assert [button.label for button in app.button if button.key == "read"] == ["Read along"]
    assert "Section 1: Revenue &lt;first&gt;" in shown(app)
    run.report = add_finished_run(api).report
    run.emit("status_changed", {"status": "completed", "detail": ""})
    while not app.main.get("page_link"):
        app.run()
    assert follow_link(app).download_button
    again = open_page("watch", run=run.id)
    assert not again.download_button, "who comes back to the progress stays there"


def test_a_stopped_run_says_on_its_report_where_it_waits(api: FakeApi, open_page: OpenPage) -> None:
    run = add_searching_run(api)
    run.emit("status_changed", {"status": "awaiting_approval", "detail": ""})
    assert "waits for your approval, under Progress" in shown(open_page("read", run=run.id))
    run.emit("status_changed", {"status": "failed", "detail": "no disk"})
    assert "failed before it had a report" in shown(open_page("read", run=run.id))


def test_the_time_left_is_told_and_its_share(api: FakeApi, open_page: OpenPage) -> None:
    add_estimate(api)
    run = add_searching_run(api)
    html = shown(caught_up(open_page("watch", run=run.id), len(run.events)))
    assert "1 of 3 steps searched" in html
    assert "min left" in html
    assert 'role="progressbar"' in html


def test_the_share_grows_with_each_step_and_the_time_left_follows_the_runs_own_pace(api: FakeApi) -> None:
    run = add_searching_run(api)
    shares = []
    for cut in range(len(run.events) + 1):
        shares.append(measure_share(fold_events([RunEvent.model_validate(event) for event in run.events[:cut]])))
    start_writing(run)
    shares.append(measure_share(progress_of(run)))
    assert shares == sorted(shares)
    assert 0.65 < shares[-1] < 0.95
    progress = progress_of(run)
    assert progress.working_since is not None
    now = progress.working_since + timedelta(minutes=8)
    left = estimate_left(progress, now, None)
    assert left is not None
    assert timedelta(minutes=1) < left < timedelta(minutes=4)
    slower = estimate_left(progress, now, timedelta(minutes=30))
    assert slower is not None
    assert slower > left
    run.emit("status_changed", {"status": "paused"})
    assert estimate_left(progress_of(run), START, timedelta(minutes=5)) is None


def test_agents_have_names(api: FakeApi) -> None:
    run = add_searching_run(api)
    start_writing(run)
    progress = progress_of(run)
    names = {path: name_agent(path, progress) for path in ("report/section/3", "search/s2", "search/s2/digest", "plan", "report")}
    assert names == {
        "report/section/3": "Section 3: Protection",
        "search/s2": "Step 2: Protection of manufactures",
        "search/s2/digest": "Step 2: Protection of manufactures (reading)",
        "plan": "Planning",
        "report": "The report",
    }
    assert name_agent("report/support/4", progress) == "The report (claims)"
    assert name_agent("task/0f", progress) == "A change of the report"
