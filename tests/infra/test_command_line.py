"""The `rubrica` command against an API on a real socket: what it prints, writes and leaves with."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import NamedTuple

import pytest

from infra.local.ports import find_free_port
from tests.support.scripted_api import CRITERIA, QUOTE, RUN_ID, SNAPSHOT_NAME, ScriptedApi, make_run_events, serve_scripted_api
from tests.support.stack import RUBRICA, command_environment, heed_interrupt


class Finished(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    error: str


async def rubrica(folder: Path, *arguments: str, **settings: str) -> Finished:
    command = [*RUBRICA, *arguments]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=command_environment(**settings), stdout=PIPE, stderr=PIPE
    )
    out, error = await process.communicate()
    return Finished(process.returncode or 0, out.decode(), error.decode())


async def test_asking_writes_a_report_that_can_be_checked(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events()))
    async with serve_scripted_api(api) as address:
        done = await rubrica(tmp_path, "ask", "Why tariffs?", "--effort", "quick", "--max-cost", "0.5", RUBRICA_API_URL=address)
    assert done.code == 0, done.error
    folder = tmp_path / "reports" / RUN_ID
    assert done.out.rstrip().endswith(f"reports/{RUN_ID}/report.md")
    assert (folder / "report.md").read_text() == "# Report [1]\n"
    assert (folder / "report.html").read_text() == "<p>Report [1]</p>"
    citation = json.loads((folder / "evidence.json").read_text())["citations"][0]
    source = (folder / "sources" / f"{SNAPSHOT_NAME}.txt").read_bytes().decode()
    assert source[citation["start"] : citation["end"]] == citation["quote"] == QUOTE
    created = next(body for method, path, body in api.calls if (method, path) == ("POST", "/runs"))
    assert created == {"question": "Why tariffs?", "effort": "quick", "budget": {"max_cost_microusd": 500_000}}


NO_FILES = ("../../../../planted", "..\\planted", "C:planted", "a/planted", "planted\x1b[2J", "plan\u202eted")


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", NO_FILES)
async def test_an_api_does_not_choose_where_files_are_written(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    async with serve_scripted_api(ScriptedApi(list(make_run_events()), snapshot=name)) as address:
        done = await rubrica(folder, "ask", "Why tariffs?", RUBRICA_API_URL=address)
    assert done.code == 2, done.out
    assert f"{f'{name}.txt'!r} cannot name a file here" in done.error
    assert not list_files(tmp_path)


async def test_an_api_whose_run_has_a_path_for_an_id_writes_nothing(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events()), run_id="../../planted")
    async with serve_scripted_api(api) as address:
        asked = await rubrica(tmp_path, "ask", "Why tariffs?", RUBRICA_API_URL=address)
        exported = await rubrica(tmp_path, "runs", "export", RUN_ID, RUBRICA_API_URL=address)
    assert (asked.code, exported.code) == (2, 2), (asked, exported)
    assert "'../../planted' is no id" in asked.error
    assert not list_files(tmp_path)


async def test_a_link_in_the_folder_of_reports_leads_nowhere_else(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "work" / "reports").mkdir(parents=True)
    elsewhere.mkdir()
    (tmp_path / "work" / "reports" / RUN_ID).symlink_to(elsewhere)
    async with serve_scripted_api(ScriptedApi(list(make_run_events()))) as address:
        watched = await rubrica(tmp_path / "work", "runs", "watch", RUN_ID, RUBRICA_API_URL=address)
        exported = await rubrica(tmp_path / "work", "runs", "export", RUN_ID, RUBRICA_API_URL=address)
    for done in (watched, exported):
        assert (done.code, "leads out of reports by a link" in done.error) == (2, True), done
    assert not list(elsewhere.iterdir())


async def test_exporting_writes_the_file_where_it_is_wanted(tmp_path: Path) -> None:
    async with serve_scripted_api(ScriptedApi(list(make_run_events()))) as address:
        default = await rubrica(tmp_path, "runs", "export", RUN_ID[:8], RUBRICA_API_URL=address)
        named = await rubrica(
            tmp_path, "runs", "export", RUN_ID[:8], "--format", "bibtex", "--file", "a/b.bib", RUBRICA_API_URL=address
        )
    assert (default.code, default.out.strip()) == (0, f"reports/{RUN_ID}/report.pdf"), default.error
    assert (tmp_path / "reports" / RUN_ID / "report.pdf").read_bytes() == b"a pdf"
    assert (named.code, (tmp_path / "a" / "b.bib").read_bytes()) == (0, b"a bibtex"), named.error


async def test_what_others_wrote_does_not_command_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202eno\x9b31m"
    plan = {"subtasks": [{"id": "s1", "title": f"Rev{hostile}enue", "question": "?"}], "revision": 1}
    events = [*make_run_events("failed"), ("status_changed", "", {"status": "failed", "detail": hostile})]
    api = ScriptedApi(events, plan=plan, question=f"Why{hostile} tariffs?")
    async with serve_scripted_api(api) as address:
        printed = [
            await rubrica(tmp_path, *command, RUBRICA_API_URL=address)
            for command in (("runs", "list"), ("runs", "show", RUN_ID), ("runs", "watch", RUN_ID), ("runs", "rubric", RUN_ID))
        ]
    shown = "".join(done.out + done.error for done in printed)
    assert "tariffs?" in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


async def test_watching_goes_on_where_a_broken_stream_ended(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events()), breaks=[4, 9])
    async with serve_scripted_api(api) as address:
        done = await rubrica(tmp_path, "runs", "watch", RUN_ID[:8], RUBRICA_API_URL=address)
    assert done.code == 0, done.error
    assert [after for method, _, after in api.calls if method == "EVENTS"] == ["0", "4", "9"]
    assert done.out.count("Revenue: started") == 1


GAP = ("gap", "", {"after": 0, "next": 2})


async def test_a_finished_run_whose_events_have_expired_ends_as_it_did(tmp_path: Path) -> None:
    done = {}
    for status in ("completed", "failed"):
        async with serve_scripted_api(ScriptedApi([GAP], expired=status)) as address:
            done[status] = await rubrica(tmp_path, "runs", "watch", RUN_ID, RUBRICA_API_URL=address)
    assert done["completed"].code == 0, done["completed"].out
    assert (tmp_path / "reports" / RUN_ID / "report.md").read_text() == "# Report [1]\n"
    assert (done["failed"].code, "the run ended as failed: because" in done["failed"].out) == (1, True)


async def test_a_quotation_that_is_not_in_its_source_is_not_delivered(tmp_path: Path) -> None:
    async with serve_scripted_api(ScriptedApi(list(make_run_events()), start=0)) as address:
        done = await rubrica(tmp_path, "runs", "watch", RUN_ID, RUBRICA_API_URL=address)
    assert done.code == 2
    assert "citation [1] does not match its stored source" in done.error
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        ("failed", 1, "the run ended as failed: because"),
        ("cancelled", 1, "the run ended as cancelled"),
        ("paused", 3, f"rubrica runs resume {RUN_ID}"),
        ("budget_reached", 3, f"rubrica runs resume {RUN_ID} --finish"),
        ("awaiting_approval", 3, f"rubrica runs approve {RUN_ID}"),
    ],
)
async def test_what_a_script_can_tell_apart(tmp_path: Path, status: str, code: int, said: str) -> None:
    async with serve_scripted_api(ScriptedApi(list(make_run_events(status)))) as address:
        done = await rubrica(tmp_path, "ask", "Why?", RUBRICA_API_URL=address)
    assert (
        "take 10 to 1,234 s, 10 to 1,234 tokens, US$ 0.00 to 0.00 (mostly general experience; 3 runs like it so far)"
        in done.error
    )
    assert done.code == code, done.error
    assert said in done.out


def ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


async def test_ctrl_c_pauses_the_run_and_says_how_to_go_on(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events())[:7])
    async with serve_scripted_api(api) as address:
        command = [*RUBRICA, "ask", "Why?"]
        settings = command_environment(RUBRICA_API_URL=address)
        process = await asyncio.create_subprocess_exec(
            *command, cwd=tmp_path, env=settings, stdout=PIPE, stderr=PIPE, preexec_fn=heed_interrupt
        )
        assert process.stdout is not None
        while b"-> 2 results" not in await process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    assert process.returncode == 130
    assert api.status == "paused"
    assert f"rubrica runs resume {RUN_ID}" in out.decode()


async def test_a_command_that_ignores_ctrl_c_says_what_pauses_its_run(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events())[:7])
    async with serve_scripted_api(api) as address:
        settings = command_environment(RUBRICA_API_URL=address)
        process = await asyncio.create_subprocess_exec(
            *RUBRICA, "ask", "Why?", cwd=tmp_path, env=settings, stdout=PIPE, stderr=PIPE, preexec_fn=ignore_interrupt
        )
        assert process.stdout is not None
        while b"-> 2 results" not in await process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        out, error = await process.communicate()
    assert f"ignores Ctrl-C, as whatever started it wanted; `kill {process.pid}` pauses the run" in error.decode()
    assert (process.returncode, api.status) == (130, "paused")
    assert f"rubrica runs resume {RUN_ID}" in out.decode()


async def test_resuming_follows_the_run_past_its_old_pause(tmp_path: Path) -> None:
    events = list(make_run_events())
    api = ScriptedApi([*events[:7], ("status_changed", "", {"status": "paused", "detail": ""})])
    async with serve_scripted_api(api) as address:
        waiting = asyncio.create_task(rubrica(tmp_path, "runs", "resume", RUN_ID, "--finish", RUBRICA_API_URL=address))
        while not any(method == "EVENTS" for method, _, _ in api.calls):
            await asyncio.sleep(0.02)
        api.add(("status_changed", "", {"status": "running", "detail": ""}), *events[7:])
        done = await waiting
    assert done.code == 0, done.error
    assert ("POST", f"/runs/{RUN_ID}/resume", {"finish": True}) in api.calls


async def test_approving_follows_the_run_past_its_wait(tmp_path: Path) -> None:
    events = list(make_run_events())
    api = ScriptedApi([*events[:7], ("status_changed", "", {"status": "awaiting_approval", "detail": ""})])
    async with serve_scripted_api(api) as address:
        waiting = asyncio.create_task(rubrica(tmp_path, "runs", "approve", RUN_ID, RUBRICA_API_URL=address))
        while not any(method == "EVENTS" for method, _, _ in api.calls):
            await asyncio.sleep(0.02)
        api.add(("status_changed", "", {"status": "running", "detail": ""}), *events[7:])
        done = await waiting
    assert done.code == 0, done.error
    assert ("POST", f"/runs/{RUN_ID}/approve") in [call[:2] for call in api.calls]


async def test_a_rubric_is_shown_and_replaced_and_a_scorecard_shown(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events()))
    (tmp_path / "mine.json").write_text(json.dumps(CRITERIA))
    (tmp_path / "bad.json").write_text(json.dumps(CRITERIA[:2]))
    async with serve_scripted_api(api) as address:
        shown = await rubrica(tmp_path, "runs", "rubric", RUN_ID, "--edit", "mine.json", RUBRICA_API_URL=address)
        refused = await rubrica(tmp_path, "runs", "rubric", RUN_ID, "--edit", "bad.json", RUBRICA_API_URL=address)
        scored = await rubrica(tmp_path, "runs", "scorecard", RUN_ID, RUBRICA_API_URL=address)
    assert json.loads(shown.out) == CRITERIA
    assert ("PUT", f"/runs/{RUN_ID}/rubric", {"criteria": CRITERIA}) in api.calls
    assert (refused.code, "no usable rubric" in refused.error) == (2, True)
    assert "scorecard: 0.50 (6 of 7 criteria judged)" in scored.out
    assert "       0.50  Point 0: half of it" in scored.out
    assert "          -  fault Guess: nobody could" in scored.out


async def test_steering_sends_each_change(tmp_path: Path) -> None:
    plan = {"subtasks": [{"id": "a", "title": "A", "question": "A?"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    options = ["--note", "more", "--add", "And B?", "--drop", "s2", "--plan", "plan.json", "--max-tokens", "9"]
    kept = {"subtasks": [{"id": "added2", "title": "C", "question": "C?"}], "removed": [{"id": "added1", "asked": "0" * 16}]}
    caps = {"max_tokens": 5, "max_cost_microusd": 2_000_000}
    api = ScriptedApi(list(make_run_events())[:5], plan=kept, budget=caps)
    async with serve_scripted_api(api) as address:
        done = await rubrica(tmp_path, "runs", "steer", RUN_ID, *options, RUBRICA_API_URL=address)
    assert done.code == 0, done.error
    sent = {(method, path.removeprefix(f"/runs/{RUN_ID}")): body for method, path, body in api.calls if method != "GET"}
    assert sent["POST", "/notes"] == {"text": "more"}
    assert sent["POST", "/plan/subtasks"]["id"] == "added3"
    assert ("DELETE", "/plan/subtasks/s2") in sent
    assert sent["PUT", "/plan"]["subtasks"][0]["id"] == "a"
    assert sent["PUT", "/budget"] == {"max_tokens": 9, "max_cost_microusd": 2_000_000}, "the caps not named stay"


async def test_listing_and_showing(tmp_path: Path) -> None:
    async with serve_scripted_api(ScriptedApi(list(make_run_events()))) as address:
        listed = await rubrica(tmp_path, "runs", "list", RUBRICA_API_URL=address)
        shown = await rubrica(tmp_path, "runs", "show", RUN_ID, RUBRICA_API_URL=address)
        unknown = await rubrica(tmp_path, "runs", "show", "ffff", RUBRICA_API_URL=address)
    assert RUN_ID in listed.out
    assert "completed" in listed.out
    assert "question  Why tariffs?" in shown.out
    assert unknown.code == 2
    assert "no runs begin with 'ffff'" in unknown.error


async def test_an_older_run_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    api = ScriptedApi(list(make_run_events()), newer=["ffff" + RUN_ID[4:]])
    async with serve_scripted_api(api) as address:
        shown = await rubrica(tmp_path, "runs", "show", RUN_ID[:4], RUBRICA_API_URL=address)
    assert shown.code == 0, shown.error
    assert f"run       {RUN_ID}" in shown.out


async def test_a_tape_is_written_where_it_is_wanted_or_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with serve_scripted_api(ScriptedApi(list(make_run_events()))) as address:
        saved = await rubrica(tmp_path, "runs", "tape", RUN_ID, "new/tape.zip", RUBRICA_API_URL=address)
        refused = await rubrica(tmp_path, "runs", "tape", RUN_ID, "file/tape.zip", RUBRICA_API_URL=address)
    assert (saved.code, (tmp_path / "new" / "tape.zip").read_bytes()) == (0, b"a tape"), saved.error
    assert (refused.code, refused.error.startswith("rubrica: file/tape.zip cannot be written: ")) == (2, True), refused.error


NOWHERE = "postgresql://u:hidden@127.0.0.1:1/d"
DATABASE = {"RUBRICA_DATABASE_URL": NOWHERE, "RUBRICA_WORKER_DATABASE_URL": NOWHERE}
HEAVY = {"aiohttp", "asyncpg", "litestar", "numpy", "qdrant_client", "sqlalchemy", "streamlit", "temporalio", "torch"}


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["ask", " \u200b "], {}, "the question is empty"),
        (["ask", "x" * 100_000], {}, "at most 8000 are accepted"),
        (["ask", "why?"], {"RUBRICA_LLM_MODLE": "m"}, "did you mean RUBRICA_LLM_MODEL"),
        (["ask", "why?", "--docs", "absent"], {}, "absent"),
        (["ask", "why?"], DATABASE, "nothing answers at 127.0.0.1:1"),
        (["api"], {}, "needs RUBRICA_DATABASE_URL, RUBRICA_WORKER_DATABASE_URL, RUBRICA_TEMPORAL_ADDRESS"),
        (["runs", "steer", RUN_ID], {}, "nothing to change"),
    ],
)
async def test_what_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], said: str
) -> None:
    done = await rubrica(tmp_path, *arguments, **settings)
    assert done.code == 2
    assert said in done.error
    assert "Traceback" not in done.error
    assert "hidden" not in done.error


async def test_an_api_that_does_not_answer_is_told(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{find_free_port()}"
    done = await rubrica(tmp_path, "ask", "why?", RUBRICA_API_URL=address)
    assert done.code == 1
    assert f"the API at {address} does not answer" in done.error
    assert "Traceback" not in done.error


async def test_a_question_that_is_not_text_is_told(tmp_path: Path) -> None:
    done = await rubrica(tmp_path, "ask", os.fsdecode(b"why \xff\xfe?"))
    assert done.code == 2
    assert "not valid UTF-8" in done.error


def test_help_loads_neither_servers_nor_models() -> None:
    """What makes a command slow to start is what it imports; unlike a time, that is the same on every machine."""
    told = "atexit.register(lambda: print(json.dumps([len(sys.modules), *{name.split('.')[0] for name in sys.modules}])))"
    command = f"import atexit, json, sys; {told}; sys.argv = ['rubrica', '--help']; from infra.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    *shown, last = done.stdout.splitlines()
    count, *packages = json.loads(last)
    assert any("Research a question" in line for line in shown)
    assert "typer" in packages
    assert not HEAVY & set(packages)
    assert count < 500
