"""Reports changed section by section, and asked about, in the whole product: real PostgreSQL, Temporal and worker."""

import asyncio
import json
from dataclasses import dataclass
from uuid import UUID

import pytest

from app.domain.budget import Budget
from app.domain.chat import ChatRequest, Completion
from app.domain.citations import MARKER
from app.domain.claims import Support
from app.domain.errors import Conflict, InvalidInput, ModelRefused, NotFound
from app.domain.query import Language
from app.domain.report import Report
from app.domain.revision import ReportTask, TaskStatus, VersionOrigin
from app.domain.run import RunStatus
from app.reports.rendering.numbering import number_citations
from app.reports.service.revisions import ReportRevisions
from app.reports.service.revisions.differences import Change
from app.reports.storage import reports
from app.settings import ClaimGrader
from tests.workflows.durable.toys import TEXT, ToyModel
from tests.workflows.durable.whole_product import WholeProduct
from workflows.agents.brief import make_notice
from workflows.agents.reporting.sections import word_quoted
from workflows.agents.wording import say
from workflows.durable.report_task_workflow import AT_BUDGET
from workflows.prompts.library import PromptLibrary


@dataclass
class Writer(ToyModel):
    """Rewrites and answers in words that cite what it is shown; all else as the toy does."""

    says: str = "It was said that tariffs were a reason [q1]. Bees make honey [q2][q99]."
    rules: str = ""

    async def complete(self, request: ChatRequest) -> Completion:
        told = await super().complete(request)
        asked = request.messages[-1].content
        if self.rules and "remarks" in str(request.response_schema):
            return told.model_copy(update={"text": self.rules})
        return told.model_copy(update={"text": self.says}) if "<evidence>" in asked else told


@pytest.fixture(autouse=True)
def prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's, which the toys do without."""
    monkeypatch.setattr("tests.workflows.durable.whole_product.PROMPTS", PromptLibrary.load())


# The toy that writes here says nothing of itself, as the writer without a model does.
AS_WRITTEN = "UPDATE reports SET report = $2 WHERE run_id = $1"


@dataclass
class Desk:
    """What a reader has of one run."""

    house: WholeProduct
    run: UUID

    def __post_init__(self) -> None:
        self.revisions = ReportRevisions(self.house.database, self.house.gateway, self.house.runs)

    async def done(self, task: ReportTask) -> ReportTask:
        while (task := await self.revisions.get_task(self.run, task.id)).status is TaskStatus.QUEUED:
            await asyncio.sleep(0.05)
        return task

    async def report(self, version: int | None = None) -> Report:
        return Report.model_validate_json((await self.house.runs.get_run_and_report(self.run, version))[1].report)


async def finished(house: WholeProduct) -> Desk:
    run = await house.ask()
    await house.wait_for(run, RunStatus.COMPLETED)
    return Desk(house, run)


async def test_a_section_is_rewritten_edited_compared_and_brought_back(house: WholeProduct) -> None:
    house.model = Writer()
    async with house.start_worker():
        desk = await finished(house)
        first, spent = await desk.report(1), (await house.get_run(desk.run)).usage

        task = await desk.done(await desk.revisions.rewrite(desk.run, 1, False, "shorter", 1))
        assert (task.status, task.version, task.usage.model_calls) == (TaskStatus.DONE, 2, 1), task.detail
        second = await desk.report()
        assert second.sections[0] == first.sections[0]
        assert second.sections[2] == first.sections[2]
        assert second.sections[1].body.startswith("It was said that tariffs were a reason [[")
        assert "q99" not in second.sections[1].body
        for report in (first, second):
            keys = {key for section in report.sections for key in MARKER.findall(section.body)}
            assert keys
            assert keys <= {quote.key for quote in report.quotes}
        for quote in second.quotes:
            assert TEXT[quote.start : quote.end] == quote.text
        assert [c for c in second.claims if c.section != 1] == [c for c in first.claims if c.section != 1]
        bees = next(c for c in second.claims if c.section == 1 and "Bees" in c.text)
        assert bees.support in (Support.NONE, Support.PARTIAL)
        assert second.sections[1].body[bees.start : bees.end].startswith("Bees")
        assert (await house.get_run(desk.run)).usage.model_calls == spent.model_calls + 1

        told = await desk.done(await desk.revisions.edit(desk.run, 0, "Mine", "Honey is sweet [1]. 我的话。", 2))
        assert (told.version, told.usage.model_calls) == (3, 0), told.detail
        third = await desk.report()
        assert (third.sections[0].heading, third.sections[0].level) == ("Mine", first.sections[0].level)
        key = number_citations(second).citations[0].quote.key
        assert third.sections[0].body == f"Honey is sweet [[{key}]]. 我的话。"
        honey = next(c for c in third.claims if c.section == 0 and "Honey" in c.text)
        assert honey.support in (Support.NONE, Support.PARTIAL)
        assert honey.quote_keys == (key,)
        assert any("†" in notice for notice in third.notices)

        diff = await desk.revisions.diff(desk.run, 1, 3)
        assert [s.change for s in diff.sections] == [Change.CHANGED, Change.CHANGED, Change.SAME]
        assert diff.sections[0].old_heading == "Section 1"
        assert "Honey is sweet" in "".join(w.text for w in diff.sections[0].words)

        with pytest.raises(Conflict, match="newest is 3"):
            await desk.revisions.edit(desk.run, 0, "", "late", 2)
        one, two = await asyncio.gather(
            *(desk.revisions.edit(desk.run, n, "", f"Both at once {n}.", 3) for n in (0, 2)), return_exceptions=True
        )
        assert isinstance(one, Conflict) != isinstance(two, Conflict)
        await desk.done(one if isinstance(one, ReportTask) else two)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match=r"no citation \[77\]"):
            await desk.revisions.edit(desk.run, 0, "", "Made up [77].", 4)
        with pytest.raises(NotFound):
            await desk.revisions.rewrite(desk.run, 9, False, "", 4)

        back = await desk.revisions.revert(desk.run, 1, 4)
        assert (back.n, back.origin, back.based_on) == (5, VersionOrigin.REVERTED, 1)
        assert await desk.report() == first
        origins = [info.origin.value for info in await desk.revisions.list_versions(desk.run)]
        assert origins == ["reverted", "edited", "edited", "rewritten", "delivered"]


async def test_questions_are_answered_from_stored_evidence_only(house: WholeProduct) -> None:
    house.model = Writer(says="A president said that tariffs were a reason [q1].")
    async with house.start_worker():
        desk = await finished(house)
        searched = len(house.index.searched)
        told = await desk.done(await desk.revisions.ask(desk.run, "Which president said that tariffs were a reason?"))
        assert told.answer is not None, told.detail
        assert told.answer.answered
        assert told.usage.model_calls == 1
        assert told.answer.claims
        for quote in told.answer.quotes:
            assert TEXT[quote.start : quote.end] == quote.text
        house.model.says = "NOT IN THE EVIDENCE"
        silent = await desk.done(await desk.revisions.ask(desk.run, "Which president disliked tariffs on bees?"))
        assert silent.answer is not None
        assert not silent.answer.answered
        assert "does not say" in silent.answer.body
        assert len(house.index.searched) == searched
        kept = await desk.revisions.list_tasks(desk.run, True, 10, None)
        assert [task.id for task in kept] == [silent.id, told.id]


@pytest.mark.parametrize("question", ["Summarise this in three bullet points.", "为什么要征税？"])
async def test_a_question_in_other_words_than_the_sources_is_answered_by_the_model(house: WholeProduct, question: str) -> None:
    house.model = Writer(says="A president said that tariffs were a reason [q1].")
    async with house.start_worker():
        desk = await finished(house)
        told = await desk.done(await desk.revisions.ask(desk.run, question))
        assert told.answer is not None, told.detail
        assert told.answer.answered
        assert told.answer.quotes


async def test_what_the_model_does_not_write_is_quoted_and_says_why(house: WholeProduct) -> None:
    async def refuse(said: str) -> None:
        if "<evidence>" in said:
            raise ModelRefused("the key is not valid")

    async with house.start_worker():
        desk = await finished(house)
        house.model.hook = refuse
        asked = await desk.done(await desk.revisions.ask(desk.run, "What did president number 3 say about tariffs?"))
        assert asked.answer is not None, asked.detail
        first, _, quoted = asked.answer.body.partition("\n\n")
        assert "did not answer (the key is not valid)" in first
        assert quoted
        for claim in asked.answer.claims:
            assert "number" in asked.answer.body[claim.start : claim.end]
        changed = await desk.done(await desk.revisions.rewrite(desk.run, 0, False, "", None))
        assert changed.version == 2, changed.detail
        assert "(the key is not valid)" in (await desk.report()).notices[0]
        await desk.done(await desk.revisions.edit(desk.run, 0, "", "My words.", None))
        assert not any("(the key is not valid)" in notice for notice in (await desk.report()).notices)


async def test_a_model_that_judged_the_report_judges_what_it_writes_later(house: WholeProduct) -> None:
    doubts = [{"id": n, "verdict": "none", "reason": "Not said.", "softened": ""} for n in (1, 2)]
    house.model = Writer(rules=json.dumps({"others": doubts}))
    async with house.start_worker() as shop:
        shop.judge = ClaimGrader.MODEL
        desk = await finished(house)
        changed = await desk.done(await desk.revisions.rewrite(desk.run, 0, False, "", None))
        assert changed.version == 2, changed.detail
        assert {claim.judge for claim in (await desk.report()).claims if claim.section == 0} == {"model"}
        asked = await desk.done(await desk.revisions.ask(desk.run, "Which president said that tariffs were a reason?"))
        assert asked.answer is not None, asked.detail
        assert {claim.judge for claim in asked.answer.claims} == {"model"}


async def test_without_a_model_other_sentences_of_the_evidence_are_taken(house: WholeProduct) -> None:
    async with house.start_worker() as shop:
        shop.asks_a_model = False
        desk = await finished(house)
        before = await desk.report()
        deeper = await desk.done(await desk.revisions.rewrite(desk.run, 0, True, "president number", None))
        # Every sentence of the toy source is like the others, so there is nothing to add, and the reader is told.
        assert (deeper.status, deeper.usage.model_calls) == (TaskStatus.FAILED, 0)
        assert "nothing for this section" in deeper.detail
        assert await desk.report() == before
        asked = await desk.done(await desk.revisions.ask(desk.run, "What did president number 3 say about tariffs?"))
        assert asked.answer is not None
        assert asked.answer.answered
        assert all(TEXT[q.start : q.end] == q.text for q in asked.answer.quotes)
        silent = await desk.done(await desk.revisions.ask(desk.run, "How heavy is a blue whale?"))
        assert silent.answer is not None
        assert not silent.answer.answered


async def test_a_report_made_without_a_model_says_which_sections_are_by_others_since(house: WholeProduct) -> None:
    house.model = Writer()
    async with house.start_worker():
        desk = await finished(house)
        first = (await desk.report()).model_copy(update={"notices": (make_notice((), Language.ENGLISH),)})
        await house.database.execute(AS_WRITTEN, desk.run, first.model_dump_json())
        assert first.notices[0].startswith("Written without a language model")
        assert (await desk.done(await desk.revisions.rewrite(desk.run, 0, False, "", 1))).version == 2
        (said,) = [notice for notice in (await desk.report()).notices if "language model" in notice]
        assert said.startswith(
            f"First written without a language model. Changed since: “{first.sections[0].heading}” by the model"
        )
        assert "Every other statement is quoted word for word" in said
        for section in range(1, len(first.sections)):
            await desk.done(await desk.revisions.edit(desk.run, section, f"Mine {section}", "My words.", None))
        told = (await desk.house.runs.get_run_and_report(desk.run))[1].markdown
        assert "All of it was changed since" in told
        assert "“Mine 1” by a reader" in told
        assert "word for word" not in told
        await desk.revisions.revert(desk.run, 1, None)
        assert (await desk.report()).notices == first.notices


async def test_a_report_that_the_model_could_not_write_does_not_say_so_of_what_it_rewrote(house: WholeProduct) -> None:
    house.model = Writer()
    async with house.start_worker():
        desk = await finished(house)
        report = await desk.report()
        names = [section.heading for section in report.sections]
        told = (say("without_model", Language.ENGLISH, detail="it was away"), word_quoted(names, "it was away", Language.ENGLISH))
        first = report.model_copy(update={"notices": told})
        await house.database.execute(AS_WRITTEN, desk.run, first.model_dump_json())
        await desk.done(await desk.revisions.rewrite(desk.run, 0, False, "", 1))
        notices = (await desk.report()).notices
        assert notices[0].startswith("At first the language model did not write this report (it was away)")
        assert notices[1] == word_quoted(names[1:], "it was away", Language.ENGLISH)


async def test_a_change_waits_for_its_worker_and_ends_at_the_budget(house: WholeProduct) -> None:
    house.model = Writer()
    async with house.start_worker():
        desk = await finished(house)
    task = await desk.revisions.rewrite(desk.run, 0, False, "", None)
    assert (await desk.revisions.get_task(desk.run, task.id)).status is TaskStatus.QUEUED
    spent = (await house.get_run(desk.run)).usage.tokens
    await house.steering.set_budget(desk.run, Budget(max_tokens=spent))
    async with house.start_worker():
        ended = await desk.done(task)
        assert (ended.status, ended.detail) == (TaskStatus.FAILED, AT_BUDGET)
        await house.steering.set_budget(desk.run, Budget())
        again = await desk.done(await desk.revisions.rewrite(desk.run, 0, False, "", 1))
        assert (again.status, again.version) == (TaskStatus.DONE, 2), again.detail
        assert await reports.find_surroundings(house.database, (await desk.report()).quotes)
