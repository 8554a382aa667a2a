"""The brief that takes the place of a report which the model wrote little or nothing of."""

from collections.abc import Iterable

from app.domain.citations import MARKER
from app.domain.report import Report
from workflows.agents.brief import write_brief
from workflows.agents.reporting.assembly import list_ends, list_parts_without_model
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.wording import say


async def write_brief_instead(desk: ReportDesk, reasons: Iterable[str]) -> Report:
    """Write a brief of all evidence, which says before all else why it stands there, and how its parts ended."""
    brief = await write_brief(desk.query, desk.plan, desk.findings, desk.kit)
    written = MARKER.search("".join(finding.answer for finding in desk.findings if finding.usage.model_calls))
    why = say("between_sides", desk.kit.language).join(dict.fromkeys(reasons))
    told = [say("brief_instead" if written else "nothing_written", desk.kit.language, detail=why)]
    told += list_parts_without_model(desk)
    return brief.model_copy(update={"title": desk.default_title, "notices": (*told, *list_ends(desk, told))})
