"""How well a report does what its rubric asks: each criterion with its score, the reason, and what it was judged by."""

from ui.client.asking import CriterionScore, Scorecard
from ui.components.markup import text
from ui.components.rubric_editor import parted
from ui.language import named, say


def scorecard_html(card: Scorecard) -> str:
    """The whole, then each item; what nobody could judge says why."""
    whole = "–" if card.overall is None else f"{card.overall:.0%}"
    told = say("score.judged", judged=card.judged, all=len(card.items))
    revised = (
        f'<p class="r-quiet">{text(say("score.revised", titles=say("log.comma").join(card.revised)))}</p>' if card.revised else ""
    )
    items = "".join(_item(item) for item in card.items)
    return f'<div class="r-score"><b>{whole}</b> <span class="r-quiet">{text(told)}</span>{revised}<ul>{items}</ul></div>'


def bar_html(item: CriterionScore) -> str:
    """The score as a bar, coloured by whether it is good: a high score of a fault is not."""
    if item.score is None:
        return '<div class="r-bar"></div>'
    good = (1 - item.score) if item.criterion.weight < 0 else item.score
    kind = "good" if good >= 0.7 else "fair" if good >= 0.4 else "poor"
    return f'<div class="r-bar {kind}"><i style="width:{item.score:.0%}"></i></div>'


def _item(item: CriterionScore) -> str:
    category, demand = parted(item.criterion)
    shown = "–" if item.score is None else f"{item.score:.0%}"
    reason = item.reason if item.score is not None else item.missing
    return (
        f'<li title="{text(demand)}"><span>{text(item.criterion.title)} <small>{text(named("category", category))}</small></span>'
        f'<em>{shown}</em>{bar_html(item)}<div class="r-quiet">{text(reason)}</div></li>'
    )
