"""Reports cut from the draft of one agent."""

import pytest

from app.domain.budget import StopReason
from app.domain.citations import marker_of
from app.domain.evidence import Finding, Quote, Source, snapshot_hash
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from tests.workflows.agent_kit import make_kit, make_record
from workflows.agents.draft_report import deliver_draft
from workflows.chat_models.absent import AbsentModel

TEXT = "Rates on wool doubled."
QUOTE = Quote(source=Source(url="https://e.org/1", title="T", snapshot=snapshot_hash(TEXT)), text=TEXT, start=0, end=len(TEXT))
M = marker_of(QUOTE)


@pytest.mark.parametrize(
    ("draft", "sections"),
    [
        ("# T\n## Rates\n### Wool\nRose {m}.\n## Wages\nFell {m}.", [(2, "Rates"), (3, "Wool"), (2, "Wages")]),
        ("# T\n## Rates\n#### Wool\nRose {m}.\n#### Hemp\nRose {m}.", [(2, "Rates"), (3, "Wool"), (3, "Hemp")]),
        ("### Rates\nRose {m}.\n#### Wool\nRose {m}.\n## Wages\nFell {m}.", [(2, "Rates"), (3, "Wool"), (2, "Wages")]),
        ("# T\nFirst {m}.\n## Empty\n## Rates\nRose {m}.\n## Sources\n[1] x", [(2, "Summary"), (2, "Rates")]),
    ],
)
async def test_headings_above_others_stay_and_no_level_is_skipped(draft: str, sections: list[tuple[int, str]]) -> None:
    finding = Finding(subtask_id="s1", answer=draft.format(m=M), quotes=(QUOTE,), stop=StopReason.SUFFICIENT)
    plan = ResearchPlan(subtasks=(Subtask(id="s1", title="t", question="q"),))
    report = await deliver_draft(ResearchQuery(question="q"), plan, (finding,), make_kit(AbsentModel(), make_record()))
    assert [(section.level, section.heading) for section in report.sections] == sections
    assert report.quotes == (QUOTE,)
    assert report.notices == ()
