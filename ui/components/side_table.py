"""A table of systems side by side: usage, and each one's score on every criterion of the same rubric."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from rubrica_client.models import ColumnView, Criterion, CriterionScore, SideBySideView
from ui.components.markup import text
from ui.components.rubric_editor import parted
from ui.components.run_header import pill_html
from ui.components.scorecard_view import bar_html, score_text
from ui.facts import count_tokens, elapsed
from ui.figures import clock, compact, money
from ui.language import named, say
from ui.report import Report

UNKNOWN = "–"
Reports = Mapping[str, Report]


def table_html(view: SideBySideView, reports: Reports, now: datetime) -> str:
    """Return one table as HTML: a column for each system, first the figures, then the criteria."""
    heads = "".join(f'<th scope="col">{text(named("system", c.run.query.system))}</th>' for c in view.columns)
    rows = [*_figures(view.columns, reports, now), *_criteria(view)]
    return (
        f'<div class="r-beside" tabindex="0" role="region" aria-label="{text(say("beside.table"))}"><table><thead><tr>'
        f"<td></td>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _figures(columns: Sequence[ColumnView], reports: Reports, now: datetime) -> list[str]:
    figures: tuple[tuple[str, Callable[[ColumnView], str]], ...] = (
        ("beside.status", lambda c: pill_html(c.run.status)),
        ("beside.overall", _overall),
        ("beside.time", lambda c: text(clock(elapsed(c.run, now)))),
        ("beside.cost", lambda c: text(money(c.run.usage.cost_microusd))),
        ("beside.tokens", lambda c: text(compact(count_tokens(c.run.usage)))),
        ("beside.calls", lambda c: text(compact(c.run.usage.model_calls))),
        ("beside.turns", lambda c: _count(c.interactions.turns if c.interactions else None)),
        ("beside.searches", lambda c: _count(c.interactions.tool_calls if c.interactions else None)),
        ("beside.citations", lambda c: _count(len(reports[c.run.id].citations) if c.run.id in reports else None)),
        ("beside.shared", lambda c: _shared(c.run.id, reports)),
        ("beside.supported", lambda c: _supported(reports.get(c.run.id))),
    )
    return [_row(text(say(label)), [figure(column) for column in columns]) for label, figure in figures]


def _criteria(view: SideBySideView) -> list[str]:
    if view.rubric is None:
        return []
    return [_criterion(criterion, view.columns) for criterion in view.rubric.criteria]


def _criterion(criterion: Criterion, columns: Sequence[ColumnView]) -> str:
    category, demand = parted(criterion)
    label = f'<span title="{text(demand)}">{text(criterion.title)}</span> <small>{text(named("category", category))}</small>'
    return _row(label, [_score(_item(column, criterion)) for column in columns])


def _item(column: ColumnView, criterion: Criterion) -> CriterionScore | None:
    items = column.scorecard.items if column.scorecard else ()
    return next((item for item in items if item.criterion.title == criterion.title), None)


def _score(item: CriterionScore | None) -> str:
    if item is None:
        return UNKNOWN
    if item.score is None:
        return f'<em>{UNKNOWN}</em><div class="r-quiet">{text(item.missing)}</div>'
    reason = f"<details><summary>{text(say('beside.why'))}</summary>{text(item.reason)}</details>" if item.reason else ""
    return f"<em>{text(score_text(item))}</em>{bar_html(item)}{reason}"


def _overall(column: ColumnView) -> str:
    card = column.scorecard
    if column.judging:
        return f'<span class="r-quiet">{text(say("beside.judging"))}</span>'
    if card is None or card.overall is None:
        return UNKNOWN
    return f"<b>{card.overall:.0%}</b> <small>{text(say('score.judged', judged=card.judged, all=len(card.items)))}</small>"


def _shared(run_id: str, reports: Reports) -> str:
    """Return how many of this report's sources another report cites too, as HTML."""
    if run_id not in reports:
        return UNKNOWN
    own, others = _sources(reports[run_id]), [_sources(report) for id_, report in reports.items() if id_ != run_id]
    return text(say("beside.of", n=len(own.intersection(*[set().union(*others)])), all=len(own)))


def _sources(report: Report) -> set[str]:
    return {citation.source.url for citation in report.citations}


def _supported(report: Report | None) -> str:
    if report is None or not report.claims:
        return UNKNOWN
    return text(say("beside.of", n=sum(claim.support == "full" for claim in report.claims), all=len(report.claims)))


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else text(compact(number))


def _row(label: str, cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{label}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
