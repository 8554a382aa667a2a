"""A subtask, a scripted model for it, and the search under test."""

import json

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.deep_search import search_deeply
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

SUBTASK = Subtask(id="s1", title="Protection", question="Was protection a reason for the tariff of 1824?")
PLAN = ResearchPlan(
    intent="learn the reasons", subtasks=(SUBTASK, Subtask(id="s2", title="Revenue", question="Was revenue one?"))
)
QUERY = ResearchQuery(question="How did presidents justify tariffs before 1900?")


def write_act(action: str, *inputs: str, thought: str = "next") -> str:
    return json.dumps({"thought": thought, "action": action, "inputs": inputs})


def write_finding(
    *quotes: tuple[str, str], answer: str = "", gaps: tuple[str, ...] = (), conflicts: tuple[object, ...] = ()
) -> str:
    noted = [passage for passage, _ in quotes]
    said = answer or " ".join(f"{text} [{passage}]." for passage, text in quotes)
    return json.dumps({"answer": said, "passages": noted, "gaps": gaps, "conflicts": conflicts})


PROTECT = "The tariff of 1824 was meant to protect domestic manufactures."
DONE = write_finding(("p1", PROTECT), answer="It was meant to protect [p1].")


def make_acting_model(*acts: ScriptedAnswer, conclude: ScriptedAnswer = DONE) -> ScriptedModel:
    """Make a model that acts in order, then finishes; any finding step is answered with `conclude`."""
    left = iter(acts)
    return ScriptedModel(lambda r: conclude if step_of(r) == "finding" else next(left, write_act("finish")))


async def search_subtask(
    model: ScriptedModel, corpus: SmallCorpus | None = None, record: LocalRecord | None = None, **more: object
) -> Finding:
    kit = make_kit(model, record or make_record(), corpus, **more)  # type: ignore[arg-type]
    return await search_deeply(SUBTASK, PLAN, QUERY, kit)


def join_messages(model: ScriptedModel) -> str:
    return "\n".join(m.content for m in model.requests[-1].messages)
