"""A table of systems side by side: usage, and each one's score on every criterion of the same rubric."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from rubrica_client.models import ColumnView, Criterion, CriterionScore, SideBySideView
from ui.components.markup import escape
from ui.components.rubric_editor import split_criterion
from ui.components.run_header import pill_html
from ui.components.scorecard_view import bar_html, score_text
from ui.facts import count_tokens, wall_time_of
from ui.language import say, say_name
from ui.number_format import format_count, format_elapsed, format_money
from ui.report import PageReport

UNKNOWN = "–"
Reports = Mapping[str, PageReport]


def table_html(view: SideBySideView, reports: Reports, now: datetime) -> str:
    """Return one table as HTML: a column for each system, first the figures, then the criteria."""
    heads = "".join(f'<th scope="col">{escape(say_name("system", c.run.query.system))}</th>' for c in view.columns)
    rows = [*_figure_rows(view.columns, reports, now), *_criterion_rows(view)]
    return (
        f'<div class="r-beside" tabindex="0" role="region" aria-label="{escape(say("beside.table"))}"><table><thead><tr>'
        f"<td></td>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _figure_rows(columns: Sequence[ColumnView], reports: Reports, now: datetime) -> list[str]:
    figures: tuple[tuple[str, Callable[[ColumnView], str]], ...] = (
        ("beside.status", lambda c: pill_html(c.run.status)),
        ("beside.overall", _overall_html),
        ("beside.time", lambda c: escape(format_elapsed(wall_time_of(c.run, now)))),
        ("beside.cost", lambda c: escape(format_money(c.run.usage.cost_microusd))),
        ("beside.tokens", lambda c: escape(format_count(count_tokens(c.run.usage)))),
        ("beside.calls", lambda c: escape(format_count(c.run.usage.model_calls))),
        ("beside.turns", lambda c: _count_html(c.interactions.turns if c.interactions else None)),
        ("beside.searches", lambda c: _count_html(c.interactions.tool_calls if c.interactions else None)),
        ("beside.citations", lambda c: _count_html(len(reports[c.run.id].citations) if c.run.id in reports else None)),
        ("beside.shared", lambda c: _shared_html(c.run.id, reports)),
        ("beside.supported", lambda c: _supported_html(reports.get(c.run.id))),
    )
    return [_row_html(escape(say(label)), [figure(column) for column in columns]) for label, figure in figures]


def _criterion_rows(view: SideBySideView) -> list[str]:
    if view.rubric is None:
        return []
    return [_criterion_html(criterion, view.columns) for criterion in view.rubric.criteria]


def _criterion_html(criterion: Criterion, columns: Sequence[ColumnView]) -> str:
    category, demand = split_criterion(criterion)
    label = (
        f'<span title="{escape(demand)}">{escape(criterion.title)}</span> <small>{escape(say_name("category", category))}</small>'
    )
    return _row_html(label, [_score_html(_find_item(column, criterion)) for column in columns])


def _find_item(column: ColumnView, criterion: Criterion) -> CriterionScore | None:
    items = column.scorecard.items if column.scorecard else ()
    return next((item for item in items if item.criterion.title == criterion.title), None)


def _score_html(item: CriterionScore | None) -> str:
    if item is None:
        return UNKNOWN
    if item.score is None:
        return f'<em>{UNKNOWN}</em><div class="r-quiet">{escape(item.missing)}</div>'
    reason = f"<details><summary>{escape(say('beside.why'))}</summary>{escape(item.reason)}</details>" if item.reason else ""
    return f"<em>{escape(score_text(item))}</em>{bar_html(item)}{reason}"


def _overall_html(column: ColumnView) -> str:
    card = column.scorecard
    if column.judging:
        return f'<span class="r-quiet">{escape(say("beside.judging"))}</span>'
    if card is None or card.overall is None:
        return UNKNOWN
    return f"<b>{card.overall:.0%}</b> <small>{escape(say('score.judged', judged=card.judged, all=len(card.items)))}</small>"


def _shared_html(run_id: str, reports: Reports) -> str:
    """Return how many of this report's sources another report cites too, as HTML."""
    if run_id not in reports:
        return UNKNOWN
    own, others = _sources_of(reports[run_id]), [_sources_of(report) for id_, report in reports.items() if id_ != run_id]
    return escape(say("beside.of", n=len(own.intersection(*[set().union(*others)])), all=len(own)))


def _sources_of(report: PageReport) -> set[str]:
    return {citation.source.url for citation in report.citations}


def _supported_html(report: PageReport | None) -> str:
    if report is None or not report.claims:
        return UNKNOWN
    return escape(say("beside.of", n=sum(claim.support == "full" for claim in report.claims), all=len(report.claims)))


def _count_html(number: int | None) -> str:
    return UNKNOWN if number is None else escape(format_count(number))


def _row_html(label: str, cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{label}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
