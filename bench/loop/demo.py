"""`make loop-demo`: the story of one seed in plain sentences, and a page with what it left, which opens at the end."""

import asyncio
import shutil
import sys
import time
from html import escape
from pathlib import Path
from statistics import fmean

from markdown_it import MarkdownIt

from bench.loop.__main__ import make_teller
from bench.loop.commands import rubrica
from bench.loop.plan import Measures
from bench.loop.story import Story, tell_story
from tests.support.train_demo import open_report
from training.folders import replace_file
from training.pages.markup import render_document, render_table

OUT = Path("reports") / "loop-demo"
GATE, STOPPED = "gate.md", 130
MEASURES = Measures(drafts=32, spoils=False)
PAGES = {
    "checks.html": ("check/checks.html", "the checks of the votes"),
    "training.html": ("rubric.train/run/report.html", "the training"),
    GATE: ("rubric.gate/gate.md", "the gate"),
}
CARD, INDEX, TITLE = "card.html", "index.html", "The loop, once through"


async def demonstrate(out: Path) -> Path:
    """Tell the story in an empty folder; return its page."""
    tell = make_teller(time.monotonic())
    story = await tell_story(out, 0, MEASURES, tell)
    copy_pages(story.cycle, out)
    await rubrica(out / "home", "registry", "card", story.version, "--out", str(out / CARD))
    replace_file(out / INDEX, render_index(story, out).encode())
    tell(f"all that was made is in {out / INDEX}")
    return out / INDEX


def copy_pages(cycle: Path, out: Path) -> None:
    """Copy what the steps of a cycle wrote for people. A cycle that ended early has less."""
    for name, (place, _) in PAGES.items():
        if (cycle / place).exists():
            shutil.copyfile(cycle / place, out / name)


def render_index(story: Story, out: Path) -> str:
    """Return the page that shows scores and the gate's table, and leads to the others that are in the folder."""
    end = f"the promotion of {story.version}" if story.promoted else "its end, without a promotion,"
    said = (
        f"Rubrics that the product drafts put what readers want over the rest in {fmean(story.before):.0%} of cases before the "
        f"cycle and in {fmean(story.after):.0%} after it. From its start to {end} it took {story.minutes:.1f} minutes."
    )
    links = {**{name: about for name, (_, about) in PAGES.items()}, CARD: "the model card"}
    items = "".join(f'<li><a href="{name}">{escape(about)}</a></li>' for name, about in links.items() if (out / name).exists())
    rows = [("before the cycle", f"{fmean(story.before):.0%}"), ("after it", f"{fmean(story.after):.0%}")]
    rows.append(("the best rubric that reads no question", f"{story.constant:.0%}"))
    scores = render_table(("rubrics", "what readers want stands over the rest"), rows)
    gate = (out / GATE).read_text(encoding="utf-8") if (out / GATE).exists() else "No gate was reached."
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(gate)
    return render_document(TITLE, [f"<h1>{TITLE}</h1><p>{escape(said)}</p>{scores}<ul>{items}</ul>", body])


def main() -> None:
    """Tell it, and open its page. Ctrl-C ends it, with all that it started."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    try:
        open_report(asyncio.run(demonstrate(OUT.absolute())))
    except KeyboardInterrupt:
        print(f"stopped; what was made so far is in {OUT}", file=sys.stderr)
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
