"""Readers' preferences become pairs: all choices between the same two reports are one, with the share that agrees."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from app.domain.budget import StopReason
from app.domain.errors import InvalidInput
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Language, ResearchQuery
from app.domain.split import Split
from app.domain.value import Value
from app.domain.writer import ReportLineage
from app.preferences.nouns.evidence import ReportSteps, RunEvidence
from app.preferences.nouns.feedback import JudgedReport, PreferencePair, ShownSide, UndecidedPair
from app.preferences.service.training_export import Manifest
from tests.training.synthesis.recorded_run_folders import QUOTES, SOURCE
from tests.training.synthesis.set_making import make_kind, read_refused, read_rows
from training.recipes.config import BaseModelSection
from training.recipes.own_samples import OwnDataSection, read_pairs
from training.synthesis.set_request import SetRequest

MOMENT = datetime(2026, 11, 1, 12, tzinfo=UTC)


def judged(text: str, model: str) -> JudgedReport:
    lineage = ReportLineage(system="minddr", agents="model", model=model, temperature=0.5)
    return JudgedReport(text=text, digest=hashlib.sha256(text.encode()).hexdigest(), lineage=lineage)


LONG, SHORT = judged("# A\n\nThe harbour was deepened, and it took years [1].", "m1"), judged("# A\n\nIt was deepened [1].", "m2")


def prefer(number: int, question: str, accepted: JudgedReport, rejected: JudgedReport, left: bool = True) -> PreferencePair:
    return PreferencePair(
        id=f"pair-{number}",
        query=ResearchQuery(question=question, language=Language.ENGLISH),
        evidence_digest="e1",
        accepted=accepted,
        rejected=rejected,
        strength=2,
        accepted_shown=ShownSide.LEFT if left else ShownSide.RIGHT,
        seconds=60.0,
        hidden_seconds=0.0,
        reader=f"reader-{number}",
        annotation=False,
        asked_by_reader=False,
    )


def call_it_a_tie(number: int, question: str) -> UndecidedPair:
    return UndecidedPair(
        id=f"pair-{number}",
        query=ResearchQuery(question=question, language=Language.ENGLISH),
        evidence_digest="e1",
        reports=(LONG, SHORT),
        both_bad=False,
        first_shown=ShownSide.LEFT,
        seconds=60.0,
        hidden_seconds=None,
        reader=f"reader-{number}",
        annotation=True,
        asked_by_reader=False,
    )


def write_lines(path: Path, values: list[Value]) -> None:
    path.write_text("".join(f"{value.model_dump_json()}\n" for value in values))


def write_export(folder: Path, pairs: list[Value], undecided: list[Value], evidence: Sequence[Value] = ()) -> Path:
    folder.mkdir()
    written = {"pairs.jsonl": pairs, "undecided.jsonl": undecided, **({"evidence.jsonl": [*evidence]} if evidence else {})}
    for name, values in written.items():
        write_lines(folder / name, values)
    manifest = Manifest(
        format="f",
        since=MOMENT,
        consents_checked_at=MOMENT,
        consenting={},
        said={},
        files={name: {"sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()} for name in written},
        pseudonym_key="k",
        comments=False,
    )
    (folder / "manifest.json").write_text(manifest.model_dump_json())
    return folder


@pytest.mark.parametrize("changed", ["pairs.jsonl", "undecided.jsonl", "evidence.jsonl"])
async def test_an_export_that_was_changed_is_refused(tmp_path: Path, changed: str) -> None:
    export = write_export(tmp_path / "november", [prefer(1, "How was the harbour deepened?", SHORT, LONG)], [])
    with (export / changed).open("a") as file:
        file.write("\n")
    with pytest.raises(InvalidInput, match=f"{changed} is not as .*manifest.json says"):
        await make_kind(SetRequest(kind="preference-pairs", out=tmp_path / "set", rows=9, inputs=(export,)))


async def test_choices_between_two_reports_are_one_pair(tmp_path: Path) -> None:
    asked = "How was the harbour deepened?"
    votes = [prefer(1, asked, SHORT, LONG), prefer(2, asked, LONG, SHORT), prefer(3, asked, SHORT, LONG, left=False)]
    export = write_export(tmp_path / "november", [*votes, prefer(4, asked, SHORT, LONG)], [call_it_a_tie(5, asked)])
    manifest = await make_kind(SetRequest(kind="preference-pairs", out=tmp_path / "set", rows=9, inputs=(export,)))
    (row,) = read_rows(tmp_path / "set")
    assert row["accepted"]["text"] == SHORT.text
    assert (row["judged_by"], row["agreement"], row["votes"]) == ("readers", 0.6, 5)
    assert row["pairs"] == [f"pair-{n}" for n in (1, 2, 3, 4, 5)]
    assert row["accepted"]["lineage"]["model"] == "m2"
    assert row["documents"] == ["evidence:e1"]
    assert manifest.origin.consents_at == MOMENT
    assert manifest.figures["the longer is preferred"] == 0
    assert manifest.figures["correlation of length and preference"] == -1
    assert manifest.figures["agreement among people, pairs with two votes or more"] == 0.6
    assert round(manifest.figures["people: choices for the report on the left"], 2) == 0.67


async def test_without_a_majority_there_is_no_pair(tmp_path: Path) -> None:
    asked = "How was the harbour deepened?"
    export = write_export(tmp_path / "november", [prefer(1, asked, SHORT, LONG)], [call_it_a_tie(2, asked)])
    await make_kind(SetRequest(kind="preference-pairs", out=tmp_path / "set", rows=9, inputs=(export,)))
    (refused,) = read_refused(tmp_path / "set")
    assert refused["stage"] == "readers"
    assert [orjson.loads(orjson.dumps(vote))["id"] for vote in refused["data"]["votes"]] == ["pair-1", "pair-2"]


async def test_a_dozen_queries_of_one_collection_keep_the_sides_that_the_export_gave_them(tmp_path: Path) -> None:
    sides = [Split.TRAIN] * 8 + [Split.VALIDATION] * 2 + [Split.TEST] * 2
    asked = [f"How was harbour{n} of county{n} deepened by guild{n}?" for n in range(12)]
    pairs = [
        prefer(4 * n + vote, question, judged(f"# {n}\n\nDeep [1].", "m1"), judged(f"# {n}\n\nLow [1].", "m2")).model_copy(
            update={"split": side, "evidence": "run-7"}
        )
        for n, (question, side) in enumerate(zip(asked, sides, strict=True))
        for vote in range(4)
    ]
    export = write_export(tmp_path / "november", [*pairs], [], [tell_evidence()])
    manifest = await make_kind(SetRequest(kind="preference-pairs", out=tmp_path / "set", rows=99, inputs=(export,)))
    found = {row["query"]: row for row in read_rows(tmp_path / "set")}
    assert all(SOURCE.url in row["documents"] for row in found.values())
    assert manifest.rows == {"train": 8, "validation": 2, "test": 2}
    held = (tmp_path / "set" / "validation" / "rows.jsonl").read_text()
    assert (asked[8] in held, asked[9] in held) == (True, True)
    assert manifest.notices[-1].startswith("4 of 4 rows that are held out share a document with rows for training: ")
    assert f"document {SOURCE.url} (4 rows)" in manifest.notices[-1]
    assert "share a document with rows for training" in (tmp_path / "set" / "report.html").read_text()


def tell_evidence() -> RunEvidence:
    plan = ResearchPlan(subtasks=(Subtask(id="s1", title="Money", question="Who paid?"),))
    finding = Finding(subtask_id="s1", quotes=QUOTES, stop=StopReason.SUFFICIENT)
    steps = {report.digest: ReportSteps(asked_on=MOMENT.date()) for report in (LONG, SHORT)}
    return RunEvidence(id="run-7", plan=plan, findings=(finding,), reports=steps)


async def test_pairs_over_the_same_documents_know_it_where_the_evidence_was_exported(tmp_path: Path) -> None:
    pair = prefer(1, "How was the harbour deepened?", SHORT, LONG).model_copy(update={"evidence": "run-7"})
    export = write_export(tmp_path / "november", [pair], [], [tell_evidence()])
    await make_kind(SetRequest(kind="preference-pairs", out=tmp_path / "set", rows=9, inputs=(export,)))
    (row,) = read_rows(tmp_path / "set")
    assert row["documents"] == ["evidence:e1", SOURCE.url]
    assert row["parts"] == ["Money"], "the titles of the plan, which the served rubric generator is told"


async def test_what_readers_compared_is_no_output_of_the_policy(tmp_path: Path) -> None:
    """It is rendered text, of one model or two, under no served prompt: the rubric generator learns from it, and DPO does not."""
    export = write_export(tmp_path / "november", [prefer(1, "How was it deepened?", judged("A third [1].", "m1"), LONG)], [])
    await make_kind(SetRequest(kind="preference-pairs", out=tmp_path / "set", rows=9, inputs=(export,)))
    with pytest.raises(InvalidInput, match="set of preference-pairs; this recipe learns from self-samples"):
        read_pairs(BaseModelSection(base="m1"), OwnDataSection(sets=(tmp_path / "set",), max_tokens=9), Split.TRAIN)
