"""Judging how a section is written, its expression and logic, by a model (MindDR Table 6, expression / logic issue rate).

The paper gives the rate without a procedure. Here a judge lists issues with the words that show them. An issue whose words are
not in the section does not count, so that a judge cannot invent issues.
"""

from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from retrieval.language.paragraphs import split_paragraphs
from workflows.agents.kit import Kit
from workflows.agents.quoting import locate_quote
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

MAX_ISSUES = 20
REASON_CHARS = 240


class IssueKind(StrEnum):
    """The kind of an issue."""

    EXPRESSION = "expression"
    LOGIC = "logic"


class IssueAnswer(StepAnswer):
    """One issue."""

    kind: str = Field(default="", description="expression or logic", json_schema_extra={"enum": [*IssueKind]})
    words: str = Field(default="", description="the words it shows in, copied exactly from the section")
    reason: str = Field(default="", description="what is wrong, in one short sentence")


class IssuesAnswer(StepAnswer):
    """All issues of a section; usually none."""

    issues: tuple[IssueAnswer, ...] = Field(default=())


class WritingIssue(NamedTuple):
    """An issue at the characters `[start, end)` of its section."""

    kind: IssueKind
    start: int
    end: int
    reason: str


class WrittenSection(NamedTuple):
    """The issues of a section, its number of paragraphs, and the number of those with at least one issue."""

    issues: tuple[WritingIssue, ...]
    paragraphs: int
    with_issues: int


WRITING = declare_step("writing_issues", IssuesAnswer, max_tokens=2_000)


async def judge_writing(kit: Kit, section: str) -> WrittenSection | Missing:
    """Return the issues of one section of a report, given as text. An empty section needs no model."""
    spans = split_paragraphs(section)
    if not spans:
        return WrittenSection((), 0, 0)

    def read(said: IssuesAnswer) -> tuple[WritingIssue, ...]:
        found = (_find_issue(section, issue) for issue in said.issues[:MAX_ISSUES])
        return tuple(dict.fromkeys(issue for issue in found if issue is not None))

    issues = await ask_judge(kit, WRITING, read, section=section)
    if isinstance(issues, Missing):
        return issues
    touched = sum(any(issue.start < span.end and issue.end > span.start for issue in issues) for span in spans)
    return WrittenSection(issues, len(spans), touched)


def _find_issue(section: str, said: IssueAnswer) -> WritingIssue | None:
    kind = said.kind.strip().lower()
    span = locate_quote(section, said.words)
    if kind not in [*IssueKind] or span is None:
        return None
    return WritingIssue(IssueKind(kind), span.start, span.end, " ".join(said.reason.split())[:REASON_CHARS])
