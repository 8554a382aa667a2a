"""The evidence of a training export: from it, the prompts of the reports that readers compared are rebuilt word for word."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from app.accounts.nouns.access import LOCAL_ORGANISATION, LOCAL_USER
from app.comparisons.service.comparisons import Comparisons, ShownComparison
from app.domain.chat import ChatRequest, Message
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.domain.trajectory import Trajectory, Turn
from app.domain.writer import WriterSettings
from app.preferences.nouns.evidence import RunEvidence
from app.preferences.nouns.feedback import CandidatePlace, Choice, ChoiceVerdict, PreferencePair
from app.preferences.service.pseudonyms import Pseudonyms
from app.preferences.service.training_export import export
from app.preferences.storage import feedback
from app.runs.storage.stored_turns import list_turns
from tests.workflows.agent_kit import PROMPTS, make_kit, make_record, step_of
from tests.workflows.durable.whole_product import WholeProduct
from tests.workflows.sensible_model import answer_sensibly
from training.rewards.passage_store import store_of
from workflows.agents.effort import bounds_of
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.agents.reporting import write_report
from workflows.agents.stage_memory import memory_of_report
from workflows.chat_models.scripted import ScriptedModel
from workflows.durable.worker import run_worker
from workflows.tools.described import DescribeTool
from workflows.tools.taped_tools import tape_of

WARM = 0.5
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
NAMES = Pseudonyms(b"k" * 32)


def answer_in_two_ways(request: ChatRequest) -> str:
    """Answer sensibly; the second report, which is asked for at a temperature, has other headings and words."""
    said = answer_sensibly(request)
    return said.replace("On ", "About ").replace("reason", "ground") if request.temperature == WARM else said


async def compare_two_reports(house: WholeProduct) -> ShownComparison:
    """Let a reader who agrees to training, like their organisation, prefer the second report."""
    await feedback.set_own_consent(house.database, LOCAL_USER, True)
    await feedback.set_organisation_consent(house.database, LOCAL_ORGANISATION, LOCAL_USER, True)
    comparisons = Comparisons(house.database, house.runs, house.steering)
    shop = house.make_workshop(MODEL_DRIVEN, chat=ScriptedModel(answer_in_two_ways), prompts=PROMPTS)
    async with run_worker(house.client, shop, "test-evidence"):
        run_id = await house.ask("Why were tariffs laid?")
        await house.wait_for(run_id, RunStatus.COMPLETED)
        made = await comparisons.create(run_id, WriterSettings(temperature=WARM), LOCAL_USER)
        await house.wait_for(made.made_run_id, RunStatus.COMPLETED)
    shown = await comparisons.show(made.id, LOCAL_USER)
    assert shown.viewing is not None, shown.comparison.failure
    side = shown.viewing.side_of(CandidatePlace.ALTERNATIVE)
    await comparisons.choose(made.id, Choice(verdict=ChoiceVerdict(side.value), strength=2), LOCAL_USER)
    return shown


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


async def read_prompts(house: WholeProduct, run_id: UUID) -> dict[str, tuple[Message, ...]]:
    """Return the prompts that reports are written from, as the run stored them."""
    return prompts_of(await list_turns(house.database, run_id))


def prompts_of(turns: Iterable[Turn]) -> dict[str, tuple[Message, ...]]:
    return {turn.agent: turn.messages for turn in turns if turn.step in ("single_pass", "section") and turn.ordinal == 0}


async def rebuild_prompts(pair: PreferencePair, evidence: RunEvidence, digest: str) -> dict[str, tuple[Message, ...]]:
    """Render the prompts again by the product's own report agent, from nothing but what was exported."""
    steps = evidence.reports[digest]
    told = {"outline": steps.outline, "aggregation": steps.aggregation}
    record = make_record()
    kit = make_kit(
        ScriptedModel(lambda request: told.get(step_of(request), "As it was [q1].")), record, bounds=bounds_of(pair.query)
    )
    kit = replace(kit, today=steps.asked_on, memory=memory_of_report(evidence.plan, evidence.findings, kit.memory))
    await write_report(pair.query, evidence.plan, evidence.findings, kit)
    return prompts_of(record.trajectory.turns)


async def test_prompts_of_both_reports_are_rebuilt_from_the_export(house: WholeProduct, tmp_path: Path) -> None:
    shown = await compare_two_reports(house)
    later = datetime.now(UTC) + timedelta(hours=1)
    await export(house.database, tmp_path / "x", BEGINNING, later, NAMES, evidence=True)
    [pair] = [PreferencePair.model_validate(row) for row in read_rows(tmp_path / "x" / "pairs.jsonl")]
    [evidence] = [RunEvidence.model_validate(row) for row in read_rows(tmp_path / "x" / "evidence.jsonl")]
    assert pair.evidence == evidence.id
    first, second = shown.comparison.run_id, shown.comparison.made_run_id
    for judged, run_id in ((pair.rejected, first), (pair.accepted, second)):
        stored = await read_prompts(house, run_id)
        assert stored
        assert await rebuild_prompts(pair, evidence, judged.digest) == stored
    assert await read_prompts(house, first) == await read_prompts(house, second), "the same was asked of both"

    turns = await list_turns(house.database, first)
    # What the planner was told of the collections is in the plan.
    kept = tape_of([turn for turn in turns if turn.call is None or turn.call.name != DescribeTool.name])
    assert len(evidence.tape) == len(kept) > 0
    for call in evidence.tape:
        played = kept.play(call.call)
        assert played is not None
        assert played.passages == call.result.passages
    assert str(first) not in (tmp_path / "x" / "evidence.jsonl").read_text()

    store = store_of(Trajectory(episode=str(first), turns=tuple(turns)), "search/s1")
    assert store["p1"].text in {passage.text for call in evidence.tape for passage in call.result.passages}


async def test_the_question_is_read_as_it_was_exported(house: WholeProduct, tmp_path: Path) -> None:
    """A run about a collection of one's own: the question names it by a pseudonym, and the evidence stays."""
    shown = await compare_two_reports(house)
    own = {"collections": ["layoffs"], "searched": ["tenant/c1"], "tenant": "tenant", "evidence_of": str(UUID(int=7))}
    run = await house.get_run(shown.comparison.run_id)
    asked = ResearchQuery.of_any_version({**run.query.model_dump(mode="json"), **own})
    await house.database.execute("UPDATE runs SET query = $2 WHERE id = $1", run.id, asked.model_dump_json())
    later = datetime.now(UTC) + timedelta(hours=1)
    manifest = await export(house.database, tmp_path / "x", BEGINNING, later, NAMES, evidence=True)
    assert manifest.evidence_left_out == {"own_documents": 1}
    assert not read_rows(tmp_path / "x" / "evidence.jsonl")
    [pair] = [PreferencePair.model_validate(row) for row in read_rows(tmp_path / "x" / "pairs.jsonl")]
    assert (len(pair.query.collections), pair.query.evidence_of, pair.query.tenant) == (1, None, "")
    written = b"".join(path.read_bytes() for path in (tmp_path / "x").iterdir()).decode()
    assert [name for name in ("layoffs", "tenant/c1", str(UUID(int=7))) if name in written] == []
