"""What a stage is told: the same when read."""

from uuid import UUID

from pydantic_core import to_json

from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Effort, ResearchQuery
from app.domain.writer import WriterSettings
from workflows.durable.payloads import ReportRequest, SearchRequest

RUN = UUID(int=1)
PLAN = ResearchPlan(subtasks=(Subtask(id="a", title="A", question="What is A?"), Subtask(id="b", title="B", question="And B?")))


def query(**options: object) -> ResearchQuery:
    return ResearchQuery.model_validate({"question": "What are A and B?", **options})


def test_what_was_asked_for_arrives() -> None:
    asked = query(
        effort=Effort.DEEP, writer=WriterSettings(temperature=0.5, prompts={"section": "v3"}), scope={"sources": ["corpora"]}
    )
    for sent in (
        SearchRequest(run_id=RUN, query=asked, plan=PLAN, subtask_id="a", begins=True),
        ReportRequest(run_id=RUN, query=asked, plan=PLAN, stored=("a",)),
    ):
        assert type(sent).model_validate_json(to_json(sent)) == sent
