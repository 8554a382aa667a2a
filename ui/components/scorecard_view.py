"""A report's scorecard: each criterion with its score, the reason, and what it was judged by."""

from rubrica_client.models import CriterionScore, Scorecard
from ui.components.markup import escape
from ui.components.rubric_editor import split_criterion
from ui.language import say, say_name

FAULT_SCORE = 0.5  # from this score on a report has the fault; the API counts alike


def scorecard_html(card: Scorecard) -> str:
    """Return the overall score, then each criterion, as HTML. A criterion that was not judged says why."""
    whole = "–" if card.overall is None else f"{card.overall:.0%}"
    judged_text = say("score.judged", judged=card.judged, all=len(card.items))
    revised = (
        f'<p class="r-quiet">{escape(say("score.revised", titles=say("log.comma").join(card.revised)))}</p>'
        if card.revised
        else ""
    )
    items = "".join(_item_html(item) for item in card.items)
    return (
        f'<div class="r-score"><b>{whole}</b> <span class="r-quiet">{escape(judged_text)}</span>{revised}<ul>{items}</ul></div>'
    )


def score_text(item: CriterionScore) -> str:
    """Return the score in a few characters. A fault is found or not: as a share, the best score of a report would be 0%."""
    if item.score is None:
        return "–"
    if item.criterion.weight < 0:
        return say("score.found" if item.score >= FAULT_SCORE else "score.not_found")
    return f"{item.score:.0%}"


def bar_html(item: CriterionScore) -> str:
    """Return the score as a bar, as HTML. Its colour says whether the score is good; for a fault, a low score is good."""
    if item.score is None:
        return '<div class="r-bar"></div>'
    fault = item.criterion.weight < 0
    good = (1 - item.score) if fault else item.score
    kind = "good" if good >= 0.7 else "fair" if good >= 0.4 else "poor"
    width = good if fault and item.score < FAULT_SCORE else item.score
    return f'<div class="r-bar {kind}"><i style="width:{width:.0%}"></i></div>'


def _item_html(item: CriterionScore) -> str:
    category, demand = split_criterion(item.criterion)
    reason = item.reason if item.score is not None else item.missing
    return (
        f'<li title="{escape(demand)}"><span>{escape(item.criterion.title)} '
        f"<small>{escape(say_name('category', category))}</small></span>"
        f'<em>{escape(score_text(item))}</em>{bar_html(item)}<div class="r-quiet">{escape(reason)}</div></li>'
    )
