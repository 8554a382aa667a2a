"""What a report that was written without a model says of that, also after sections of it were changed."""

from collections.abc import Sequence

from app.domain.query import Language
from app.domain.report import READER, Report, Section
from workflows.agents.brief.wording import tell


def make_notice(sections: Sequence[Section], language: Language) -> str:
    """Return how the report came about: without a model, or with sections by others since, who are named."""
    changed = [_name_change(section, language) for section in sections if section.changed_by]
    if not changed:
        return tell("no_model", language)
    what = "no_model_first" if len(changed) == len(sections) else "no_model_but"
    return tell(what, language, changed=tell("and", language).join(dict.fromkeys(changed)))


def renew_notice(changed: Report, before: Report) -> Report:
    """Return the changed report. Where it said how it came about without a model, it says what is true by now."""
    true = {make_notice(before.sections, language): make_notice(changed.sections, language) for language in Language}
    return changed.model_copy(update={"notices": tuple(true.get(notice, notice) for notice in changed.notices)})


def _name_change(section: Section, language: Language) -> str:
    what = "changed_by_reader" if section.changed_by == READER else "changed_by_model"
    return tell(what, language, title=section.heading, model=section.changed_by)
