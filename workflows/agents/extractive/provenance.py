"""What a report that was written without a model says of that, also after sections of it were changed."""

from collections.abc import Sequence

from app.domain.query import Language
from app.domain.report import READER, Report, Section
from workflows.agents.extractive.phrasing import Phrases, phrases_in


def notice_of(sections: Sequence[Section], language: Language) -> str:
    """How the report came about: by rules alone, or with sections by others since, who are named."""
    words = phrases_in(language)
    changed = [_changed(section, words) for section in sections if section.changed_by]
    if not changed:
        return words.no_model
    template = words.no_model_first if len(changed) == len(sections) else words.no_model_but
    return template.format(changed=words.comma.join(dict.fromkeys(changed)))


def with_true_notice(changed: Report, before: Report) -> Report:
    """The report as it was changed. Where it said how it came about without a model, it says what is true by now."""
    true = {notice_of(before.sections, language): notice_of(changed.sections, language) for language in Language}
    notices = tuple(true.get(notice, notice) for notice in changed.notices)
    return changed.model_copy(update={"notices": notices})


def _changed(section: Section, words: Phrases) -> str:
    template = words.changed_by_reader if section.changed_by == READER else words.changed_by_model
    return template.format(title=section.heading, model=section.changed_by)
