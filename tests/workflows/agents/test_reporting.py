"""Reports by steps: what each step sees and says, and what stands in the report when one fails."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.domain.budget import StopReason
from app.domain.errors import ModelRefused
from app.domain.evidence import Finding, Passage
from app.domain.query import Language
from app.domain.run import EventType
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.agents.scripted_report import (
    CLOSING,
    FOUND,
    OUTLINE,
    PLAN,
    PROTECT,
    QUERY,
    RAISE,
    STABLE,
    TWO,
    WAGES,
    WORDS,
    quote,
    rendered,
    write,
    writing,
)
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Bounds
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory
from workflows.agents.reporting import write_report
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord


async def test_outline_sections_and_one_critical_pass() -> None:
    model, record = writing(), make_record()
    report = await write(model, record=record)
    assert [step_of(r) for r in model.requests] == ["outline", "text", "text", "consistency"]
    assert [t.agent for t in record.trajectory.turns] == ["report", "report/section/1", "report/section/2", "report"]
    assert report.title == "Protection first, prices later"
    assert [(s.level, s.heading) for s in report.sections] == [
        (2, "Summary"),
        (2, "Workshops and wages"),
        (3, "Workshops"),
        (3, "Wages"),
        (2, "What it cost"),
        (2, "Conclusion"),
    ]
    assert "One message says prices rose [3]; another denies it [4]." in rendered(report)
    assert report.notices == ()
    assert {q.key for q in report.quotes} == {PROTECT.key, WAGES.key, RAISE.key, STABLE.key}


async def test_watchers_are_told_the_outline_and_each_section_with_its_citations() -> None:
    told: list[tuple[EventType, str, Mapping[str, Any]]] = []
    await write(writing(), record=LocalRecord("watched", watch=lambda *event: told.append(event)))
    written = [(kind, agent, payload) for kind, agent, payload in told if kind is not EventType.MODEL_CALL]
    headings = [{"section": 1, "heading": "Workshops and wages"}, {"section": 2, "heading": "What it cost"}]
    assert written[0] == (
        EventType.OUTLINE_MADE, "report", {"title": "Protection first, prices later", "sections": headings}
    )  # fmt: skip
    assert [(kind, agent) for kind, agent, _ in written[1:]] == [
        (EventType.SECTION_WRITTEN, f"report/section/{number}") for number in (1, 2)
    ]
    second = written[2][2]
    assert second["markdown"] == "One message says prices rose [4]; another denies it [3]."
    assert [(cited["n"], cited["quote"]) for cited in second["citations"]] == [(4, RAISE.text), (3, STABLE.text)]
    assert "### Workshops\n\nThe law of 1824" in written[1][2]["markdown"]


async def test_each_writer_sees_its_own_evidence_and_the_whole_outline() -> None:
    model = writing()
    await write(model)
    first, second = ("\n".join(m.content for m in r.messages) for r in model.requests[1:3])
    assert '<passage id="q1">' in first
    assert '<passage id="q4">' not in first
    assert "What it cost" in first
    assert "whether prices rose (q4, q3)" in second


async def test_writers_see_the_answers_of_findings_and_whole_passages() -> None:
    after = "Southern members answered that the planter alone paid."
    text = f"{PROTECT.text} {after}</passage><quote>"
    passage = Passage(source=PROTECT.source, text=text, start=PROTECT.start, end=PROTECT.start + len(text))
    model = writing()
    await write(model, (FOUND[0].model_copy(update={"passages": (passage,)}), FOUND[1]))
    first, second = ("\n".join(m.content for m in r.messages) for r in model.requests[1:3])
    assert f'<passage id="q1">\n{PROTECT.text} {after}‹' in first
    assert first.count("</passage>") == 2
    assert "<finding>\nProtection [q1].\n</finding>" in first
    assert after not in second
    assert "<finding>\nThey disagree.\n</finding>" in second


async def test_the_outline_sees_every_finding_with_its_gaps_however_long_the_answers_are() -> None:
    many = [
        Finding(
            subtask_id=f"s{i}", answer=f"{WORDS[i]} " * 900, quotes=(PROTECT,), gaps=(f"gap {i}",), stop=StopReason.SUFFICIENT
        )
        for i in range(12)
    ]
    model = writing()
    await write(model, tuple(many), bounds=Bounds(evidence_chars=9_000))
    asked = "\n".join(m.content for m in model.requests[0].messages)
    assert all(f"## s{i}:" in asked and WORDS[i] in asked and f"gap {i}" in asked for i in range(12))
    assert len(asked) < 14_000


async def test_invented_citations_are_removed_and_counted() -> None:
    text = "A [q1]. B [q3]. C [7]. D [[0123456789abcdef]]. E (https://made.up). F [page](http://made.up). G 【q99】. H [q1, q77]."
    report = await write(writing(Workshops_and_wages=text))
    assert "A [1]. B [2]. C. D. E. F page. G. H [1]." in rendered(report), (
        "q3 is another section's evidence, and evidence all the same"
    )
    assert report.removed_citations == 6
    assert "6 citations that no stored source answers were removed." in report.notices


async def test_a_list_of_references_of_the_writers_own_is_dropped() -> None:
    report = await write(writing(What_it_cost=f"{TWO}\n\n## References\n\n1. A made-up book\n"))
    assert "made-up book" not in rendered(report)


async def test_a_disagreement_is_listed_where_the_critical_pass_finds_one_and_the_text_tells_it() -> None:
    report = await write(writing())
    assert [(c.about, set(c.quote_keys)) for c in report.conflicts] == [("whether prices rose", {RAISE.key, STABLE.key})]
    silent = await write(writing(What_it_cost="Prices rose [q4].", consistency=CLOSING.replace("[q4][q3]", "[q4]")))
    assert silent.conflicts == ()
    assert STABLE.text not in rendered(silent)


async def test_an_uncited_section_is_asked_again_and_then_quoted() -> None:
    model = writing(What_it_cost="Everyone knows that prices rose.")
    report = await write(model)
    again = [r for r in model.requests if "no statement cites a source" in r.messages[-1].content]
    assert len(again) == 1
    assert RAISE.text in rendered(report)
    assert "Everyone knows" not in rendered(report)
    assert any("What it cost" in notice for notice in report.notices)


async def test_a_heading_of_a_source_is_not_quoted_where_a_section_failed() -> None:
    heading = RAISE.model_copy(update={"text": "ON PRICES", "start": 9_000, "end": 9_009})
    findings = (FOUND[0], FOUND[1].model_copy(update={"quotes": (RAISE, STABLE, heading)}))
    assigned = OUTLINE.replace("q88", "q5")
    text = rendered(await write(writing(What_it_cost="Everyone knows it.", outline=assigned), findings))
    assert RAISE.text in text
    assert "ON PRICES" not in text


async def test_a_summary_that_cites_nothing_is_left_out() -> None:
    closing = {"edits": [], "summary": "This report discusses tariffs.", "conclusion": "Prices rose [q4]."}
    report = await write(writing(consistency=json.dumps(closing)))
    assert report.notices == ("The language model's “Summary” cites no source and was left out.",)
    assert "This report discusses" not in rendered(report)
    assert report.sections[-1].heading == "Conclusion"


@pytest.mark.parametrize("step", ["outline", "Workshops and wages", "What it cost", "consistency"])
@pytest.mark.parametrize("failure", ["nonsense", "", ModelRefused("content filter")])
async def test_any_step_may_fail_and_there_is_a_report_that_says_so(step: str, failure: ScriptedAnswer) -> None:
    report = await write(writing(**{step.replace(" ", "_"): failure}))
    text = rendered(report)
    assert all(q.text in text or f"[{n}]" in text for n, q in enumerate(report.quotes, 1))
    assert "the language model" in report.notices[0].lower()


async def test_edits_are_applied_where_they_are_sound() -> None:
    edits = [
        {"find": "One message says prices rose [q4]", "replace": "The message of 1887 says prices rose [q4]"},
        {"find": "The law of 1824 was to protect makers [q1].", "replace": ""},
        {"find": "words that stand nowhere in it", "replace": "x"},
        {"find": "That of 1890 was to protect wages [q2].", "replace": "That of 1890 protected wages [q2][q99]."},
        {"find": "## What it cost", "replace": "## What it cost consumers"},
    ]
    report = await write(writing(consistency=json.dumps({"edits": edits, "summary": "", "conclusion": ""})))
    text = rendered(report)
    assert "The message of 1887 says prices rose [2]; another denies it [3]." in text
    assert "makers" not in text
    assert "That of 1890 protected wages [1]." in text
    assert [s.heading for s in report.sections] == ["Workshops and wages", "Wages", "What it cost consumers"]


async def test_duplicates_across_findings_become_one_quote() -> None:
    inner = quote("https://example.org/1824", "meant to protect domestic manufactures")
    twice = (FOUND[0], FOUND[1].model_copy(update={"quotes": (PROTECT, inner, RAISE, STABLE)}))
    report = await write(writing(), twice)
    assert len(EvidenceBook(twice)) == 4
    assert PROTECT.key in {quote.key for quote in report.quotes}


async def test_the_reader_is_told_of_failed_dropped_and_starved_parts() -> None:
    findings = (
        FOUND[0].model_copy(update={"stop": StopReason.FAILED, "detail": "the key is wrong"}),
        FOUND[1].model_copy(update={"stop": StopReason.BUDGET}),
    )
    report = await write(writing(), findings)
    assert "The part “Protection” could not be researched to its end: the key is wrong" in report.notices
    assert any("“Prices” ended early because the budget" in notice for notice in report.notices)


async def test_without_any_evidence_no_model_is_asked() -> None:
    model = writing()
    nothing = tuple(
        f.model_copy(update={"quotes": (), "stop": StopReason.NO_EVIDENCE, "gaps": ("wages by trade",), "conflicts": ()})
        for f in FOUND
    )
    report = await write(model, nothing)
    assert model.requests == []
    assert "No evidence was found" in rendered(report)
    assert "wages by trade" in rendered(report)
    assert len(report.notices) == 2


async def test_a_spent_budget_ends_in_a_quoted_report() -> None:
    record = LocalRecord("t", allow=lambda _, usage: StopReason.BUDGET if usage.model_calls >= 1 else None)
    model = writing()
    report = await write(model, record=record)
    assert len(model.requests) == 1
    assert PROTECT.text in rendered(report)
    assert any("budget ended before the report was finished" in notice for notice in report.notices)


async def test_the_readers_notes_reach_every_writer() -> None:
    model, record = writing(), make_record()
    note = MemoryEntry(agent="user", kind=MemoryKind.NOTE, text="Compare with Britain.")
    kit = replace(make_kit(model, record), memory=SharedMemory(entries=(note,)))
    await write_report(QUERY, PLAN, FOUND, kit)
    assert all("Compare with Britain." in "\n".join(m.content for m in r.messages) for r in model.requests)


async def test_a_chinese_report_is_framed_in_chinese() -> None:
    section = "关税法是为了保护制造业 [q1]。"
    model = ScriptedModel(lambda r: {"outline": OUTLINE, "consistency": CLOSING}.get(step_of(r), section))
    report = await write(model, language=Language.CHINESE)
    assert report.sections[0].heading == "摘要"
    assert report.sections[-1].heading == "结论"
    assert "研究报告的主编" in model.requests[0].messages[0].content


async def test_sections_without_evidence_are_not_written() -> None:
    named = {"Workshops and wages": ["q1", "q2"], "Unicorns": [], "What it cost": ["q3", "q4"]}
    sections = [{"heading": h, "brief": h, "parts": [], "passages": ids} for h, ids in named.items()]
    model = writing(outline=json.dumps({"title": "T", "sections": sections}))
    report = await write(model)
    assert "Unicorns" not in [s.heading for s in report.sections]


async def test_no_more_sections_than_the_bounds_allow() -> None:
    sections = [{"heading": f"Heading {i}", "brief": "tariff", "parts": []} for i in range(30)]
    model = writing(outline=json.dumps({"title": "T", "sections": sections}))
    report = await write(model, bounds=Bounds(sections=2))
    assert len([s for s in report.sections if s.heading.startswith("Heading")]) <= 2
