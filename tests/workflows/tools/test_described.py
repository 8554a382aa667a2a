"""What planner and searchers are told of the collections that a run searches."""

from dataclasses import replace

from app.domain.errors import ToolError
from app.domain.query import Language, ResearchQuery
from retrieval.ports import CollectionDescription, SearchFilter
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.agents.ports import Tool
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.local import LocalStages
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import OutsideTools, ToolCorpora, build_describer

MINUTES = CollectionDescription(
    name="t1", kind="uploads", own=True, documents=2, years=(2023, 2025), languages={"zh": 1, "en": 1}, titles=("Lease", "潮水")
)
ADDRESSES = CollectionDescription(name="sotu", kind="sotu", own=False, documents=1249, languages={"en": 1249})


class Shelves:
    def __init__(self, broken: bool = False) -> None:
        self.broken = broken

    async def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        if self.broken:
            raise ToolError("the index is away")
        return [MINUTES] if where.collections else [ADDRESSES]


def build(corpora: ToolCorpora, shelves: Shelves | None = None, **more: object) -> Tool | None:
    memory = ToolMemory(DictToolStore())
    return build_describer(shelves or Shelves(), corpora, memory, Language.ENGLISH, **more)  # type: ignore[arg-type]


async def test_each_collection_that_is_searched_is_described_once() -> None:
    tool = build(ToolCorpora(general=("t1",), beside=True))
    assert tool is not None
    head, own, installed = (await tool.call({})).note.splitlines()
    assert "each of their languages" in head
    assert own == "- the organisation's own files: 2 documents, 2023–2025, 1 in Chinese, 1 not, mostly English: Lease; 潮水"
    assert installed == (
        "- the installation's addresses of US presidents to Congress: 1,249 documents, not in Chinese, mostly English"
    )


async def test_titles_stay_inside_and_a_run_without_a_collection_is_told_of_none() -> None:
    web = OutsideTools(web=SmallCorpus())  # type: ignore[arg-type]
    tool = build(ToolCorpora(general=("t1",)), outside=web)
    assert tool is not None
    assert "Lease" not in (await tool.call({})).note
    assert build(ToolCorpora(indexed=False)) is None


async def test_planner_and_searchers_read_the_description_and_the_plan_keeps_it() -> None:
    for broken in (False, True):
        model, record = ScriptedModel(answer_sensibly), make_record()
        kit = replace(make_kit(model, record), shelves=build(ToolCorpora(), Shelves(broken)))
        query, steering = ResearchQuery(question="Why were tariffs raised?"), PlanSteering()
        await research(query, LocalStages(MODEL_DRIVEN, kit, record, query), steering)
        for step in ("plan", "act"):
            asked = next(request for request in model.requests if step_of(request) == step)
            assert ("the installation's addresses" in asked.messages[0].content) is not broken
        assert ("addresses" in steering.current_plan().sources) is not broken
