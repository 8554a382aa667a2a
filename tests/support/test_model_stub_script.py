"""A whole chain against the stub, over a socket: the run has the size the benches count on, and its citations resolve."""

from collections import Counter

import pytest

from app.domain.citations import CitationStore
from app.domain.query import Effort, ResearchQuery
from app.domain.report import Report
from app.domain.trajectory import TurnKind
from bench.questions import make_question
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_script import RunShape
from tests.workflows.agent_kit import make_kit, make_record
from workflows.agents.effort import BOUNDS, LIMITS
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering


async def chain(stub: ModelStub) -> tuple[Report, LocalRecord]:
    query, record = ResearchQuery(question=make_question(0), effort=Effort.DEEP), make_record()
    async with serve_model_stub(stub), connect_model(ModelEndpoint(stub.base_url, "stub")) as model:
        kit = make_kit(model, record, limits=LIMITS[Effort.DEEP], bounds=BOUNDS[Effort.DEEP])
        return await research(query, LocalStages(MODEL_DRIVEN, kit, record, query), PlanSteering()), record


def count_kinds(record: LocalRecord) -> Counter[TurnKind]:
    """The agents' turns. What is found for them where their quotes stand in no source, as in this small corpus, is not theirs."""
    return Counter(turn.kind for turn in record.trajectory.turns if not turn.agent.endswith("/quotes"))


async def test_a_deep_run_has_67_model_calls_and_12_searches() -> None:
    stub = ModelStub()
    _, record = await chain(stub)
    assert count_kinds(record) == {TurnKind.MODEL: 67, TurnKind.TOOL: 12}
    assert stub.bill.outcomes == {"answered": 67}


async def test_the_report_has_its_sections_and_every_citation_resolves() -> None:
    report, _ = await chain(ModelStub())
    numbered = [CitationStore(report.quotes).number(section.body) for section in report.sections]
    assert [report.sections[0].heading, report.sections[-1].heading] == ["Summary", "Conclusion"]
    assert len(report.sections) > 3, "a section for each of the few documents there are"
    assert sum(len(n.citations) for n in numbered) > 5
    assert not [marker for n in numbered for marker in n.unresolved]
    assert report.removed_citations == 0


async def test_the_same_question_gives_the_same_report() -> None:
    assert (await chain(ModelStub()))[0] == (await chain(ModelStub()))[0]


@pytest.mark.parametrize("words", [["subtasks=3", "searches=4", "sections=2", "turns=3"]])
async def test_the_shape_can_be_chosen(words: list[str]) -> None:
    stub = ModelStub(shape=RunShape.parse(words))
    report, record = await chain(stub)
    assert len(report.sections) == 2 + 2
    assert count_kinds(record)[TurnKind.TOOL] == 4
