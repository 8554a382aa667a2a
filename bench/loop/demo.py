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
from bench.loop.spoiled import GATE as GATE_STEP
from bench.loop.story import Story, tell_story
from tests.support.train_demo import open_report
from training.folders import replace_file
from training.pages.markup import render_document, render_table

OUT = Path("reports") / "loop-demo"
GATE, STOPPED = "gate.md", 130
SPOILED = "poisoned"
MEASURES = Measures(drafts=32, spoils=(SPOILED,))
REFUSED = f"spoiled/{SPOILED}/{GATE_STEP}/gate.md"
PAGES = {
    "checks.html": ("check/checks.html", "the checks of the votes"),
    "training.html": ("rubric.train/run/report.html", "the training"),
    GATE: ("rubric.gate/gate.md", "the gate"),
}
CARD, INDEX, TITLE = "card.html", "index.html", "The loop, once through"


async def demonstrate(out: Path) -> Path:
    """Tell the story in a folder, from where it ended there; return its page."""
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
    moves = render_table(("when", "the rubric's role", "by", "why"), story.moves)
    parts = [
        f"<h1>{TITLE}</h1><p>{escape(said)}</p>{scores}<ul>{items}</ul>",
        f"<h2>The role, from the first model to the promotion and back</h2>{moves}",
        f"<h2>Versions</h2>{render_table(('version', 'state', 'made'), story.versions)}",
        f"<h2>The canary</h2>{render_table(('from', 'to', 'share', 'how it ended'), story.canaries)}",
        f"<h2>The candidate: {escape(story.version)}</h2>{render_markdown(gate)}",
    ]
    if (out / REFUSED).exists():
        about = "A candidate that was taught to want what readers do not want, at the same exam and gate."
        refused = render_markdown((out / REFUSED).read_text(encoding="utf-8"))
        parts.append(f"<h2>A spoiled candidate, refused</h2><p>{about}</p>{refused}")
    return render_document(TITLE, [f'<div class="words">{part}</div>' for part in parts])


def render_markdown(text: str) -> str:
    """Render a page of a gate, which stands under a heading of its own."""
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text.replace("# ", "## ")))


def main() -> None:
    """Tell it, and open its page. Ctrl-C ends it, and the next call goes on; after a whole one it begins anew."""
    if (OUT / INDEX).exists():
        shutil.rmtree(OUT)
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        open_report(asyncio.run(demonstrate(OUT.absolute())))
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on from what is in {OUT} (delete it to begin anew)", file=sys.stderr)
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
