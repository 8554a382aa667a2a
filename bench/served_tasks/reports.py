"""Reports by the product's writer: its one call over whole passages, its reading of the answer, its checks of the report.

What these mend or cannot use counts as readers get it; a report that the policy does not write counts 0.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.domain.budget import StopReason
from app.domain.chat import ChatRequest, Completion, Message
from app.domain.evidence import Finding, Passage, Source, snapshot_hash
from app.domain.query import Effort, ResearchQuery
from bench.learning_tasks import dated_reports, own_outputs, reports, short_reports
from bench.served_tasks.own_prompts import AskedAsTrained
from bench.served_tasks.policies import ask_all, make_kit
from workflows.agents.asker import Asker
from workflows.agents.effort import bounds_of
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.agents.reporting.critique import CRITIQUE
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.whole_report import write_in_one_pass
from workflows.agents.simple_plan import make_single_plan
from workflows.agents.stage_memory import REPORTER
from workflows.chat_models.served_book import OpenModel
from workflows.judging.report_verification import verify_report
from workflows.judging.second_look import Judges
from workflows.systems.local_record import LocalRecord

REPAIRED_RULE = "| --- | --- |\n"
NOTHING = '<answer>{"edits": [], "conflicts": []}</answer>'


class UncriticalRecord(LocalRecord):
    """A record in which the critical pass finds nothing to change: no policy learned it, and each answers it without an end."""

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """Return the model's answer. Raises as the usual record does."""
        if step == CRITIQUE.name:
            return Completion(text=NOTHING, model=model.name)
        return await super().ask(agent, step, model, request)


async def rate_short_reports(model: OpenModel, seed: int, _: Path) -> list[Mapping[str, float]]:
    """Have the held-out reports of `report_rl` written, and rate them.

    The policy learned a task of one sentence, which stands in place of the product's.
    """
    told = replace(model, chat=AskedAsTrained(model.chat, shorten_task))
    held_out = short_reports.split_subjects(seed)[1]
    asked = short_reports.list_questions(held_out, reports.ITEMS, random.Random(f"held out {seed}"))
    rows = [question.row for question in asked]
    texts = await ask_all([partial(_write, told, n, row.query, list(map(dict, row.retrieval))) for n, row in enumerate(rows)])
    return [short_reports.rate_report(text, question) for text, question in zip(texts, asked, strict=True)]


async def rate_dated_reports(model: OpenModel, seed: int, _: Path) -> list[Mapping[str, float]]:
    """Have the held-out reports of `preference_dpo` and `self_sft` written, by the very prompt of the product, and rate them."""
    held_out = dated_reports.split_works(seed)[1]
    asked = dated_reports.list_questions(held_out, own_outputs.ITEMS, random.Random(f"held out {seed}"))
    rows = [question.row for question in asked]
    texts = await ask_all([partial(_write, model, n, row["query"], row["retrieval"]) for n, row in enumerate(rows)])
    return [dated_reports.rate_report(show_as_written(text), question) for text, question in zip(texts, asked, strict=True)]


def show_as_written(report: str) -> str:
    """Return a report in which the rule of a table that the product repaired is written as the evaluator knows it."""
    return report.replace(REPAIRED_RULE, dated_reports.RULE)


def shorten_task(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the prompt of a report with the task of short reports in the place of its own."""
    system, user = messages
    before, task, _ = user.content.partition("<task>\n")
    return [system, user.model_copy(update={"content": f"{before}{task}{short_reports.TASK}\n</task>"})]


async def _write(model: OpenModel, number: int, question: str, texts: Sequence[Mapping[str, str]]) -> str:
    return await write_report(make_kit(model, UncriticalRecord(str(number))), question, texts)


async def write_report(kit: Kit, question: str, texts: Sequence[Mapping[str, str]]) -> str:
    """Return the report on a question over these texts, with the ids by which its writer saw them; empty where there is none.

    The prompt of a quick report names the length that the policies learned from.
    """
    query = ResearchQuery(question=question, language=kit.language, effort=Effort.QUICK)
    kit = replace(kit, bounds=bounds_of(query))
    finding = Finding(subtask_id="s1", passages=tuple(map(_make_passage, texts)), stop=StopReason.SUFFICIENT)
    desk = ReportDesk(kit, query, make_single_plan(query), (finding,), EvidenceBook([finding]), Asker(kit, REPORTER))
    written = await write_in_one_pass(desk)
    if written is None:
        return ""
    report = await verify_report(written, (finding,), kit, Judges(), {})
    bodies = [section.body for section in report.sections]
    return EvidenceBook([finding], report.quotes).put_ids("\n\n".join([f"# {report.title}", *bodies]))


def _make_passage(told: Mapping[str, str]) -> Passage:
    text = told["text"]
    source = Source(url=told["url"], title=told["title"], snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))
