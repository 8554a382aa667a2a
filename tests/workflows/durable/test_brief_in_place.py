"""A brief in the report's place searched by itself: its sources are kept like those of the searches, and no model revises it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson
import pytest

from app.accounts.nouns.access import LOCAL_USER
from app.comparisons.service.candidates import NOT_AS_ASKED
from app.comparisons.service.comparisons import Comparisons
from app.domain.errors import NotFound
from app.domain.evidence import Finding, Passage, Source, snapshot_hash
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.run import RunStatus
from app.domain.writer import WriterSettings
from app.schedules.storage import living_runs
from retrieval.ports import SearchFilter
from tests.workflows.durable.test_rubric_stage import MINE, Judge, agents_of, asking
from tests.workflows.durable.toys import ToyIndex, ToyModel, make_toy_agents
from tests.workflows.durable.whole_product import WholeProduct
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.reporting.brief_instead import write_brief_instead
from workflows.agents.reporting.desk import ReportDesk
from workflows.prompts.library import PromptLibrary

PAGE = "A speech of 1824. The tariffs of that year were laid to protect the mills of the north. The house rose at nine."
CITED = "The tariffs of that year were laid to protect the mills of the north."
OWN = Source(url="https://example.org/speech", title="Speech", snapshot=snapshot_hash(PAGE))


@dataclass
class WiderIndex(ToyIndex):
    """Only the question itself finds the speech; `lost`: the index has no copy of it."""

    lost: bool = False

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        if not query.startswith("why tariffs?"):
            return await super().search(query, limit, where)
        return [Passage(source=OWN, text=PAGE, start=0, end=len(PAGE))]

    async def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        return PAGE if name == OWN.snapshot and not self.lost else await super().get_snapshot(name, tenant)


async def write_nothing(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    desk = ReportDesk(kit, query, plan, findings, EvidenceBook(findings), Asker(kit, "report"))
    return await write_brief_instead(desk, ["it stammers"])


AGENTS = replace(make_toy_agents(), report=write_nothing)


async def test_the_sources_of_the_brief_can_be_read(house: WholeProduct) -> None:
    house.index = WiderIndex()
    async with house.start_worker(AGENTS):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    evidence = orjson.loads(await house.runs.get_evidence(run_id))
    cited = {citation["quote"]: citation for citation in evidence["citations"]}
    text = (await house.runs.get_snapshot(cited[CITED]["source"]["snapshot"])).decode()
    assert text[cited[CITED]["start"] : cited[CITED]["end"]] == CITED
    page = (await house.runs.get_run_and_report(run_id))[1].html
    assert "…A speech of 1824." in page, "the words around a quote come from the same copy"


async def test_the_brief_is_not_named_after_the_model_and_is_compared_with_nothing_as_its_text(house: WholeProduct) -> None:
    comparisons, other = Comparisons(house.database, house.runs, house.steering), ToyModel(name="other")
    async with house.start_worker(others=[other]):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    async with house.start_worker(AGENTS, others=[other]):
        made = await comparisons.create(run_id, WriterSettings(model="other"), LOCAL_USER)
        await house.wait_for(made.made_run_id, RunStatus.COMPLETED)
    lineage = await living_runs.get_lineage(house.database, made.made_run_id)
    assert lineage is not None
    assert (lineage.agents, lineage.model, lineage.way) == ("brief", "", "minddr: quotations, automatic")
    assert (await comparisons.show(made.id, LOCAL_USER)).comparison.failure == NOT_AS_ASKED


async def test_a_source_without_a_copy_is_not_cited(house: WholeProduct) -> None:
    house.index = WiderIndex(lost=True)
    async with house.start_worker(AGENTS):
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    evidence = orjson.loads(await house.runs.get_evidence(run_id))
    assert OWN.url not in {citation["source"]["url"] for citation in evidence["citations"]}
    assert {claim["unsourced"] for claim in evidence["claims"] if "mills" in claim["text"]} == {True}
    with pytest.raises(NotFound):
        await house.runs.get_snapshot(OWN.snapshot)


async def test_a_rubric_that_the_brief_fails_does_not_take_its_citations_away(house: WholeProduct) -> None:
    house.model, house.index = Judge(), WiderIndex()
    async with house.start_worker(AGENTS, prompts=PromptLibrary.load()):
        run_id = await house.ask(approve_plan=True, rubric=True)
        await house.wait_for(run_id, RunStatus.AWAITING_APPROVAL)
        drafted = (await asking(house).get_rubric(run_id)).rubric
        await asking(house).edit_rubric(run_id, (MINE, *drafted.criteria))
        await house.steering.approve(run_id)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    card = await asking(house).get_scorecard(run_id)
    assert (card.items[0].score, card.judged, card.revised) == (1 / 9, 8, ())
    assert "report/revision" not in await agents_of(house, run_id)
    markdown = await house.read_report_markdown(run_id)
    assert "mills of the north." in markdown
    assert "Farmers planted" not in markdown
