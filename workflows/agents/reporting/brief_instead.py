"""The brief that takes the place of a report which the model wrote little or nothing of.

A model that cannot write searches badly too. So the brief begins with what a search for the question itself finds, and goes on
with what the model's searches found.
"""

from collections.abc import Collection, Iterable

from app.domain.budget import StopReason
from app.domain.citations import MARKER
from app.domain.evidence import Finding, Quote
from app.domain.plan import Subtask
from app.domain.report import Report
from workflows.agents.brief import find_quotes, write_brief
from workflows.agents.reporting.assembly import list_ends, list_parts_without_model
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.simple_plan import shorten_title
from workflows.agents.stage_memory import REPORTER
from workflows.agents.wording import say

OWN = "question"


async def write_brief_instead(desk: ReportDesk, reasons: Iterable[str]) -> Report:
    """Write a brief of all evidence, which says before all else why it stands there, and how its parts ended."""
    own = Subtask(id=OWN, title=shorten_title(desk.query.question), question=desk.query.question)
    plan = desk.plan.model_copy(update={"subtasks": (own, *desk.plan.subtasks)})
    quotes = await find_quotes(own.question, (), f"{REPORTER}/quotes", desk.kit)
    found = Finding(subtask_id=OWN, quotes=quotes, stop=StopReason.SUFFICIENT)
    others = [_leave_out(quotes, finding) for finding in desk.findings]
    brief = await write_brief(desk.query, plan, (found, *others), desk.kit)
    written = any(map(_is_answered, desk.findings))
    why = say("between_sides", desk.kit.language).join(dict.fromkeys(reasons))
    told = [say("brief_instead" if written else "nothing_written", desk.kit.language, detail=why)]
    told += list_parts_without_model(desk)
    return brief.model_copy(update={"title": desk.default_title, "notices": (*told, *list_ends(desk, told))})


def _is_answered(finding: Finding) -> bool:
    """Say whether a model answered with a citation."""
    return finding.usage.model_calls > 0 and MARKER.search(finding.answer) is not None


def _leave_out(told: Collection[Quote], finding: Finding) -> Finding:
    """Leave out of a finding the quotes that are told already, unless its answer cites them."""
    known = {quote.key for quote in told}
    kept = tuple(quote for quote in finding.quotes if quote.key not in known or _is_answered(finding))
    return finding.model_copy(update={"quotes": kept})
