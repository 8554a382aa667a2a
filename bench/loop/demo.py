"""`make loop-demo`: the story of one seed in plain sentences, and a page with what it left, which opens at the end."""

import asyncio
import shutil
import time
from html import escape
from pathlib import Path
from statistics import fmean

from bench.loop.__main__ import make_teller
from bench.loop.commands import rubrica
from bench.loop.plan import Measures
from bench.loop.story import Story, tell_story
from tests.support.train_demo import open_report
from training.folders import replace_file
from training.pages.markup import render_document

OUT = Path("reports") / "loop-demo"
MEASURES = Measures(drafts=32, spoils=False)
PAGES = {
    "checks.html": ("check/checks.html", "the checks of the votes"),
    "training.html": ("rubric.train/run/report.html", "the training"),
    "gate.md": ("rubric.gate/gate.md", "the gate"),
}
CARD, INDEX, TITLE = "card.html", "index.html", "The loop, once through"


async def demonstrate(out: Path) -> Path:
    """Tell the story in an empty folder; return its page."""
    tell = make_teller(time.monotonic())
    story = await tell_story(out, 0, MEASURES, tell)
    for name, (place, _) in PAGES.items():
        shutil.copyfile(story.cycle / place, out / name)
    await rubrica(out / "home", "registry", "card", story.version, "--out", str(out / CARD))
    replace_file(out / INDEX, render_index(story).encode())
    tell(f"all that was made is in {out / INDEX}")
    return out / INDEX


def render_index(story: Story) -> str:
    """Return the page that leads to the others."""
    end = f"the promotion of {story.version}" if story.promoted else "its end, without a promotion,"
    said = (
        f"Rubrics that the product drafts put what readers want over the rest in {fmean(story.before):.0%} of cases before the "
        f"cycle and in {fmean(story.after):.0%} after it. From its start to {end} it took {story.minutes:.1f} minutes."
    )
    links = {**{name: about for name, (_, about) in PAGES.items()}, CARD: "the model card"}
    items = "".join(f'<li><a href="{name}">{escape(about)}</a></li>' for name, about in links.items())
    return render_document(TITLE, [f"<h1>{TITLE}</h1><p>{escape(said)}</p><ul>{items}</ul>"])


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    open_report(asyncio.run(demonstrate(OUT.absolute())))
