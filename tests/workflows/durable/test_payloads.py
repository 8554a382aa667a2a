"""What a stage is told: short on the wire, the same when read, and kept once by the stages that are told the same."""

import gc
import weakref
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


def test_what_is_the_default_does_not_travel_and_what_was_asked_for_arrives() -> None:
    asked = query(
        effort=Effort.DEEP, writer=WriterSettings(temperature=0.5, prompts={"section": "v1"}), scope={"sources": ["corpora"]}
    )
    for sent in (
        SearchRequest(run_id=RUN, query=asked, plan=PLAN, subtask_id="a", begins=True),
        ReportRequest(run_id=RUN, query=asked, plan=PLAN, stored=("a",)),
    ):
        told = to_json(sent)
        assert type(sent).model_validate_json(told) == sent
        assert b'"purpose"' not in told
        assert b'"tenant"' not in told


def test_stages_that_are_told_the_same_keep_it_once_and_only_while_they_work() -> None:
    told = to_json(SearchRequest(run_id=RUN, query=query(effort=Effort.DEEP), plan=PLAN, subtask_id="a"))
    first, second = SearchRequest.model_validate_json(told), SearchRequest.model_validate_json(told)
    assert first.query is second.query
    assert first.plan.subtasks[0] is second.plan.subtasks[0]
    brief = SearchRequest.model_validate_json(to_json(SearchRequest(run_id=RUN, query=query(), plan=PLAN, subtask_id="a")))
    assert (brief.query.effort, first.query.effort) == (Effort.STANDARD, Effort.DEEP)
    kept = weakref.ref(first.query)
    del first, second
    gc.collect()
    assert kept() is None
