"""A section of a brief, written anew with other quotations or deepened with further ones, and what the report says of changes."""

from collections.abc import Sequence

from app.domain.evidence import Finding, Quote
from app.domain.plan import ResearchPlan
from app.domain.query import Language, ResearchQuery
from app.domain.report import READER, Report, Section
from workflows.agents.brief.layout import lay_out
from workflows.agents.brief.ranking import words_of
from workflows.agents.brief.wording import tell
from workflows.agents.kit import Kit
from workflows.agents.revision import NothingToAdd, SectionRevision
from workflows.agents.wording import say

FEWEST, MOST = 3, 12
MORE = 4


async def revise_section(
    revision: SectionRevision, query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit
) -> tuple[Section, ...]:
    """Return the section with other quotations, or (`deepen`) with further ones behind those it has.

    They are of the sources that the section quotes, so that its heading stays true.

    Raises:
        NothingToAdd: every statement that was found in these sources is in the report already.
    """
    number = MORE if revision.deepen else min(MOST, max(FEWEST, len(revision.inside)))
    fresh = _list_candidates(revision, findings)[:number]
    if not fresh:
        raise NothingToAdd(say("nothing_more", kit.language))
    first, *parts = revision.sections
    forms = [form for finding in findings for form in finding.forms]
    body = "\n\n".join(lay_out([quote for quote in fresh if quote.source.url == url], forms) for url in _list_sources(fresh))
    if revision.deepen:
        return (first.model_copy(update={"body": f"{first.body}\n\n{body}".strip()}), *parts)
    return (first.model_copy(update={"body": body, "changed_by": ""}),)


def _list_candidates(revision: SectionRevision, findings: Sequence[Finding]) -> list[Quote]:
    """List what the report does not cite yet of the section's sources: first what shares most words with the reader's wish."""
    quotes = list({quote.key: quote for finding in findings for quote in finding.quotes}.values())
    sources = set(_list_sources([quote for quote in quotes if quote.key in revision.inside]))
    cited, wished = revision.inside | revision.outside, words_of(revision.wish)
    left = [quote for quote in quotes if quote.key not in cited and quote.source.url in sources]
    return sorted(left, key=lambda quote: -len(wished & words_of(quote.text)))


def _list_sources(quotes: Sequence[Quote]) -> list[str]:
    return list(dict.fromkeys(quote.source.url for quote in quotes))


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
