"""`python -m bench.small_model`: three questions over the default corpus, from an embedded model to the delivered report.

The stack serves the model as `make report MODEL=...` does, at quick effort, one question after the other. The reports are written
to bench/results/small_model. For each question: `completed`; `calls` of the model; `refused`, the calls whose answer was refused
and asked for again; `marked`, the share of sentences behind which the report sets †, ‡ or ¶; `minutes`.
"""

import argparse
import asyncio
import os
import time
from pathlib import Path
from uuid import UUID

from app.domain.errors import SetupError
from app.domain.query import Effort, Language
from app.domain.report import Report
from app.domain.trajectory import Turn
from app.reports.rendering.marks import text_mark_of
from bench.client import ask, watch
from bench.result import print_result, print_skipped
from bench.stack import ROOT, RunningStack, start_stack
from rubrica_client.models import RunStatus
from workflows.prompts.library import PromptLibrary

QUESTIONS = (
    "How did presidents justify tariffs before 1900?",
    "What did presidents say about building and paying for the Panama Canal?",
    "Why did presidents ask Congress for civil service reform?",
)
OUT = ROOT / "bench" / "results" / "small_model"
HANDED_ON = ("RUBRICA_MODELS_DIR", "RUBRICA_LOCAL_MODEL_THREADS", "RUBRICA_LLM_CONTEXT")
MODEL_TURNS = "SELECT body FROM turns WHERE run_id = $1 AND kind = 'model'"
REPORT = "SELECT report, markdown FROM reports WHERE run_id = $1"


async def measure(home: Path, model: str, questions: int, out: Path) -> dict[str, float]:
    """Ask the questions, write the reports, and return the figures."""
    given = {"RUBRICA_LOCAL_MODEL": model, **{name: os.environ[name] for name in HANDED_ON if name in os.environ}}
    figures: dict[str, float] = {"completed": 0}
    async with start_stack(home, None, given) as stack:
        print("\n".join(stack.said), flush=True)
        for number, question in enumerate(QUESTIONS[:questions], 1):
            found, markdown = await measure_question(stack, question)
            print(f"{question} {found}", flush=True)
            (out / f"{number}.md").write_text(markdown)
            figures["completed"] += found["completed"]
            figures |= {f"{name}_{number}": value for name, value in found.items()}
    return figures


async def measure_question(stack: RunningStack, question: str) -> tuple[dict[str, float], str]:
    """Ask one question; return its figures and its report."""
    began = time.monotonic()
    run_id = await ask(stack.client, question, effort=Effort.QUICK)
    run = await watch(stack.client, run_id)
    minutes = (time.monotonic() - began) / 60
    turns = [Turn.of_any_version(row["body"]) for row in await stack.database.fetch(MODEL_TURNS, UUID(run_id))]
    found = {"calls": len(turns), "refused": count_refused(turns), "minutes": minutes}
    row = await stack.database.fetchrow(REPORT, UUID(run_id))
    if run.status is not RunStatus.COMPLETED or row is None:
        return {"completed": 0, **found, "marked": 1}, f"There is no report: the run is {run.status}.\n"
    marked = share_marked(Report.of_any_version(row["report"]))
    return {"completed": 1, **found, "marked": marked}, row["markdown"]


def count_refused(turns: list[Turn]) -> int:
    """Count the calls that ask again for an answer that was refused."""
    opening = PromptLibrary.load().get("retry", Language.ENGLISH).render_text(problem="").partition(":")[0]
    return sum(any(message.content.startswith(opening) for message in turn.messages) for turn in turns)


def share_marked(report: Report) -> float:
    """Return the share of a report's sentences that carry a warning."""
    return sum(bool(text_mark_of(claim)) for claim in report.claims) / len(report.claims) if report.claims else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="folder of the stack's state; the corpus is indexed there first")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b", help="a name of `rubrica models`, or a GGUF file")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="how many of them")
    parser.add_argument("--out", type=Path, default=OUT, help="where the reports go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        figures = asyncio.run(measure(options.home.absolute(), options.model, options.questions, options.out))
    except SetupError as error:
        print_skipped("small_model", str(error))
    else:
        print_result("small_model", figures)


if __name__ == "__main__":
    main()
