"""An organisation in which all agree to training: its feedback of every kind, and exports of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import orjson

from app.accounts.nouns.access import Role
from app.asking.storage import rubrics
from app.domain.query import ResearchQuery
from app.domain.report import READER, Section
from app.domain.revision import VersionInfo, VersionOrigin
from app.domain.rubric import Origin
from app.domain.writer import ReportLineage
from app.preferences.service.pseudonyms import Pseudonyms
from app.preferences.service.training_export import export
from app.reports.storage import versions
from app.runs.storage.run_log import Renderings
from tests.app.annotators import Person, add_person, make_choice, make_comparison, make_finished_run, make_report
from tests.app.served_api import ApiClient
from workflows.judging.general_rubric import make_general_rubric

BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
NAMES = Pseudonyms(b"k" * 32)
DELIVERED, OTHER = "Duties protect labour at home.", "Duties raise what people pay."
WAY = ReportLineage(system="minddr", agents="model", model="m1", prompts={"section/v3/en": "ab" * 32}, build="b1")
OTHER_WAY = ReportLineage(system="minddr", agents="brief", arrangement="time", build="b1")


class Readers:
    """An organisation in which all agree: somebody asked, and two readers judged."""

    def __init__(self, pool: asyncpg.Pool, api: ApiClient, organisation: UUID, asker: Person, fond: Person, torn: Person) -> None:
        self.pool, self.api, self.organisation = pool, api, organisation
        self.asker, self.fond, self.torn = asker, fond, torn
        self.comparison = ""

    async def export(self, out: Path, since: datetime = BEGINNING, later: timedelta = timedelta(hours=1), **options: Any) -> Any:
        return await export(self.pool, out, since, datetime.now(UTC) + later, NAMES, **options)


async def make_readers(pool: asyncpg.Pool, api: ApiClient) -> Readers:
    """Make the organisation; two readers compare, one of them rates, the other flags, the asker edits."""
    await pool.execute("DELETE FROM organisation_consents")
    home = uuid4()
    asker, fond, torn = [await add_person(pool, api, Role.OWNER, home) for _ in range(3)]
    made = Readers(pool, api, home, asker, fond, torn)
    run_id = await make_finished_run(pool, make_report(DELIVERED), WAY)
    await pool.execute("UPDATE runs SET organisation_id = $2, created_by = $3 WHERE id = $1", run_id, home, asker.id)
    for person in (asker, fond, torn):
        await person.put("/v1/consent", {"person": True, "organisation": True})
    made.comparison = await make_comparison(pool, asker, run_id, OTHER, OTHER_WAY)
    path = f"/v1/comparisons/{made.comparison}"
    shown = (await fond.get(path)).json
    side = "left" if OTHER in shown["left"]["markdown"] else "right"
    reasons = [{"dimension": "coherence", "side": side}, {"dimension": "completeness", "side": None}]
    await fond.post(f"{path}/choice", make_choice(side, 3, reasons=reasons, comment="Ask Bob Miller.", hidden_seconds=0))
    await fond.post(f"{path}/reveal")
    await torn.get(path)
    await torn.post(f"{path}/choice", make_choice("both_bad"))
    await fond.post(f"/v1/runs/{run_id}/rating", {"stars": 2, "comment": "Ask Bob Miller."})
    await torn.post(f"/v1/runs/{run_id}/claims/0/flag", {"reason": "Ask Bob Miller."})
    edited = await asker.put(f"/v1/runs/{run_id}/sections/0", {"heading": "Briefly", "markdown": "Duties cost. [1]"})
    assert edited.status < 300, edited.body
    await keep_edit(pool, run_id)
    await edit_rubric(pool, asker)
    return made


async def edit_rubric(pool: asyncpg.Pool, asker: Person) -> None:
    """A drafted rubric, which whoever asked gives another first criterion."""
    run_id = (await asker.post("/v1/runs", {"question": "Which duties?", "rubric": "auto"})).json["id"]
    drafted = make_general_rubric(ResearchQuery(question="Which duties?")).model_copy(
        update={"origin": Origin.MODEL, "model": "m1", "prompt": "cd" * 32}
    )
    await rubrics.add_draft(pool, UUID(run_id), drafted)
    criteria = [criterion.model_dump() for criterion in drafted.criteria]
    criteria[0] |= {"title": "Rates", "description": "Key Criterion: Gives the rates.", "weight": 5}
    assert (await asker.put(f"/v1/runs/{run_id}/rubric", {"criteria": criteria})).status == 200


async def keep_edit(pool: asyncpg.Pool, run_id: UUID) -> None:
    """What the worker does for an edit."""
    task = await pool.fetchrow("SELECT id, request, base FROM report_tasks WHERE run_id = $1 AND status = 'queued'", run_id)
    told = orjson.loads(task["request"])
    section = Section(heading=told["heading"], body=told["body"], changed_by=READER)
    changed = make_report(DELIVERED).model_copy(update={"sections": (section,)})
    base, n = task["base"], task["base"] + 1
    info = VersionInfo(n=n, origin=VersionOrigin.EDITED, based_on=base, section=0, created_at=BEGINNING)
    await versions.add(pool, run_id, info, changed, Renderings("", ""), {})
    await pool.execute("UPDATE report_tasks SET status = 'done', version = $2 WHERE id = $1", task["id"], n)


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / name).read_bytes().splitlines()]


def count_rows(folder: Path) -> list[int]:
    return [len(rows(folder, f"{name}.jsonl")) for name in ("pairs", "undecided", "ratings", "flags", "edits", "rubrics")]
