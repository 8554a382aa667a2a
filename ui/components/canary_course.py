"""What was seen of a canary: the runs of both arms with their errors, and the rate at which readers chose the candidate."""

from collections.abc import Sequence

from rubrica_client.models import ArmView, CanaryCourseView, VotesView
from ui.components.markup import escape
from ui.components.point_plot import PlotPoint, plot_html
from ui.language import say, say_name


def course_html(course: CanaryCourseView) -> str:
    """Return the course of a canary as HTML."""
    arms = "".join(f"<li>{escape(_tell_arm(arm))}</li>" for arm in course.arms)
    votes = _votes_html(course.votes) if course.votes else f'<p class="r-quiet">{escape(say("models.no_votes"))}</p>'
    return f'<ul class="r-list">{arms}</ul>{votes}'


def _tell_arm(arm: ArmView) -> str:
    share = f"{arm.failed / arm.runs:.1%}" if arm.runs else "–"
    return say("models.traffic", arm=say_name("canary_arm", arm.arm), runs=f"{arm.runs:,}", failed=f"{arm.failed:,}", share=share)


def _votes_html(votes: Sequence[VotesView]) -> str:
    last = votes[-1]
    told = say(
        "models.win_rate",
        won=f"{last.won:,}",
        votes=f"{last.votes:,}",
        rate=f"{last.rate:.0%}",
        low=f"{last.low:.0%}",
        high=f"{last.high:.0%}",
    )
    points = [PlotPoint(each.day.toordinal(), each.rate, each.low, each.high) for each in votes]
    return f"<p><strong>{escape(say('models.win_rate_title'))}</strong></p>{plot_html(points, told)}"
