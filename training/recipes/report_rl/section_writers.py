"""The second policy of Report-RL: the section writers of the product's chain, all under the advantage of their one report.

Outline and passages are those of the row. Passages go to the sections that share most words with them, as in the product where
its outline names none; nothing makes the sections consistent afterwards. What a row does not say, the planner's analysis and
the reader's notes, is empty.
"""

from dataclasses import dataclass
from datetime import date

from app.domain.budget import StopReason
from app.domain.evidence import Finding, Quote, Source, snapshot_hash
from app.domain.query import Language, ResearchQuery
from training.recipes.report_rl.drafts import read_drafts
from training.rewards.notations import Notation
from training.rollouts.nouns import RolloutEnd
from training.rollouts.rollout_work import RolloutOutcome
from training.rollouts.run_chain import is_cut_off
from training.synthesis.report_data.recorded_report import RecordedReportTask
from workflows.agents.asker import Asker
from workflows.agents.codec import TagCodec
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Bounds, Kit
from workflows.agents.ports import ChatModel
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import Outline, read_kept_outline
from workflows.agents.reporting.placing import FilledSection, place_evidence
from workflows.agents.reporting.sections import write_sections
from workflows.agents.simple_plan import make_single_plan
from workflows.agents.stage_memory import REPORTER
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord


@dataclass(frozen=True, slots=True)
class SectionSetup:
    """What section writers need besides a row: the day that their prompts name, and the limits of what they read and write."""

    prompts: PromptLibrary
    today: date
    bounds: Bounds


def make_book(given: RecordedReportTask) -> EvidenceBook:
    """Return the texts of a row under the ids by which section writers cite them."""
    return EvidenceBook((_make_finding(given),))


async def write_in_sections(
    question: str, language: Language, given: RecordedReportTask, policy: ChatModel, record: LocalRecord, setup: SectionSetup
) -> RolloutOutcome:
    """Write all sections at once. The output has the strictly read ones, under the outline's headings."""
    outline = read_kept_outline(given.outline)
    if outline is None:
        raise ValueError("section writers need an outline")
    desk = _open_desk(question, language, given, policy, record, setup)
    filled = place_evidence(outline, desk.book)
    await write_sections(desk, outline, filled)
    end = RolloutEnd.CAPPED if is_cut_off(record.trajectory) else RolloutEnd.FINISHED
    return RolloutOutcome(_join_sections(outline, filled, record), end)


def _join_sections(outline: Outline, filled: list[FilledSection], record: LocalRecord) -> str:
    drafts = read_drafts(record.trajectory, Notation.TAGS)
    written = [(each.section.heading, drafts.get(f"{REPORTER}/section/{each.section.number}", "")) for each in filled]
    parts = [f"## {heading}\n\n{draft}" for heading, draft in written if draft]
    return "\n\n".join([f"# {outline.title}", *parts]) if parts else ""


def _open_desk(
    question: str, language: Language, given: RecordedReportTask, policy: ChatModel, record: LocalRecord, setup: SectionSetup
) -> ReportDesk:
    codec, finding = TagCodec(), _make_finding(given)
    kit = Kit(policy, {}, record, setup.prompts, codec, setup.today, lambda: 0.0, bounds=setup.bounds, language=language)
    query = ResearchQuery(question=question, language=language)
    return ReportDesk(kit, query, make_single_plan(query), (finding,), EvidenceBook((finding,)), Asker(kit, REPORTER))


def _make_finding(given: RecordedReportTask) -> Finding:
    quotes = tuple(
        Quote(
            source=Source(url=found.url, title=found.title, snapshot=snapshot_hash(found.text)),
            text=found.text,
            start=0,
            end=len(found.text),
        )
        for found in given.retrieval
        if found.text
    )
    return Finding(subtask_id="s1", quotes=quotes, stop=StopReason.SUFFICIENT)
