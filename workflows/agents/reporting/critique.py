"""The one critical pass over a report that one call wrote: its writer reads it again as its strictest reader would.

The request is the writer's own conversation, continued: nothing that it read is paid for at full price again by a server that
keeps prefixes.
"""

from collections.abc import Sequence

from pydantic import Field

from app.domain.chat import ChatRole, Message
from app.domain.script import count_words
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.edits import EditAnswer, apply_edits
from workflows.agents.steps import StepAnswer, declare_step

ABOUT_CHARS = 500


class DisagreementAnswer(StepAnswer):
    """Passages that disagree."""

    about: str = Field(default="", description="what they disagree about, in one sentence")
    passages: tuple[str, ...] = Field(default=(), description="ids of the passages that disagree, such as q3")


class CritiqueAnswer(StepAnswer):
    """What has to change, and what stays disputed."""

    edits: tuple[EditAnswer, ...] = Field(default=(), description="only what has to change, worst first")
    conflicts: tuple[DisagreementAnswer, ...] = Field(
        default=(), description="disagreements between sources that nothing in the evidence settles and that the report tells"
    )


CRITIQUE = declare_step("critique", CritiqueAnswer, max_tokens=6_000, spare=["conflicts"])


async def criticise(desk: ReportDesk, written: Sequence[Message], text: str) -> str:
    """Return the text after its edits; `written` are the messages that it answers. Without an answer it stays as it is."""
    kit = desk.kit
    form = kit.codec.describe_form(CRITIQUE, kit.prompts, kit.language)
    asked = kit.prompts.get("critique", kit.language).render(**count_length(text), form=form)
    messages = (*written, Message(role=ChatRole.ASSISTANT, content=text), *asked)
    answer = await desk.ask(desk.asker, CRITIQUE, messages, "critique_failed")
    if answer is None:
        return text
    desk.disputed = read_disagreements(answer.conflicts, desk.book)
    return apply_edits(text, answer.edits)


def count_length(text: str) -> dict[str, str]:
    """Return the words of a report, and those of them in tables, as its critic is told them: readers may set tables apart."""
    plain = remove_citations(text)
    rows = (line for line in plain.split("\n") if line.lstrip().startswith("|"))
    return {"words": str(count_words(plain)), "tables": str(sum(map(count_words, rows)))}


def read_disagreements(said: Sequence[DisagreementAnswer], book: EvidenceBook) -> list[tuple[str, tuple[str, ...]]]:
    """Return what passages disagree about, with their ids; none of fewer than two."""
    found = [(" ".join(each.about.split())[:ABOUT_CHARS], book.ids_in(" ".join(each.passages))) for each in said]
    return [(about, ids) for about, ids in found if about and len(ids) > 1]
