"""`python -m bench.small_model`: three questions over the default corpus, from an embedded model to the delivered report.

The stack serves the model as `make report MODEL=...` does, at quick effort, one question after the other. The reports are written
to bench/results/small_model. `refused` counts calls whose answer was refused and asked for again; `marked` is the share of
sentences that the report marks as not supported or not cited, of all whose support was looked at.
"""

import argparse
import asyncio
import os
import time
from pathlib import Path

from app.domain.errors import SetupError
from app.domain.trajectory import Turn
from bench.client import ask, watch
from bench.result import print_result, print_skipped
from bench.stack import ROOT, RunningStack, start_stack
from rubrica_client import reports
from rubrica_client.models import ReportView, RunStatus
from workflows.prompts.library import PromptLibrary

QUESTIONS = (
    "How did presidents justify tariffs before 1900?",
    "What did presidents say about building and paying for the Panama Canal?",
    "Why did presidents ask Congress for civil service reform?",
)
OUT = ROOT / "bench" / "results" / "small_model"
MODEL_TURNS = "SELECT body FROM turns WHERE run_id = $1 AND kind = 'model'"
REFUSAL_WORDS = 5


async def measure(home: Path, model: str, out: Path) -> dict[str, float]:
    """Ask all questions, write the reports, and return the figures."""
    given = {"RUBRICA_LOCAL_MODEL": model}
    if folder := os.environ.get("RUBRICA_MODELS_DIR"):
        given["RUBRICA_MODELS_DIR"] = folder
    out.mkdir(parents=True, exist_ok=True)
    figures: dict[str, float] = {}
    async with start_stack(home, None, given) as stack:
        print("\n".join(stack.said), flush=True)
        for number, question in enumerate(QUESTIONS, 1):
            found = await measure_question(stack, question, out / f"{number}.md")
            print(f"{question} {found}", flush=True)
            figures |= {f"{name}_{number}": value for name, value in found.items()}
    return {"completed": sum(value for name, value in figures.items() if name.startswith("completed_")), **figures}


async def measure_question(stack: RunningStack, question: str, file: Path) -> dict[str, float]:
    """Ask one question, write its report to `file`, and return its figures."""
    began = time.monotonic()
    run_id = await ask(stack.client, question, effort="quick")
    run = await watch(stack.client, run_id)
    minutes = (time.monotonic() - began) / 60
    completed = run.status is RunStatus.COMPLETED
    turns = [Turn.model_validate_json(row["body"]) for row in await stack.database.fetch(MODEL_TURNS, run.id)]
    refused = count_refused(turns)
    if completed:
        file.write_bytes(await stack.client.send(reports.markdown(run_id)))
    marked = share_marked(await stack.client.send(reports.get(run_id))) if completed else 1.0
    return {"completed": completed, "calls": len(turns), "refused": refused, "marked": marked, "minutes": minutes}


def count_refused(turns: list[Turn]) -> int:
    """Count the calls that ask again for an answer that was refused."""
    asking = PromptLibrary.load().get("retry", "en").render_text(problem="").partition(":")[0]
    return sum(any(message.content.startswith(asking) for message in turn.messages) for turn in turns)


def share_marked(report: ReportView) -> float:
    """Return the share of a report's sentences that carry a mark: not supported, contradicted, or without a source."""
    marked = sum(claim.support in ("none", "contradicted") or "¶" in claim.text for claim in report.claims)
    return marked / len(report.claims) if report.claims else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="folder of the stack's state; the corpus is indexed there first")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b", help="a name of `rubrica models`, or a GGUF file")
    parser.add_argument("--out", type=Path, default=OUT, help="where the reports go")
    options = parser.parse_args()
    try:
        print_result("small_model", asyncio.run(measure(options.home.absolute(), options.model, options.out)))
    except SetupError as error:
        print_skipped("small_model", str(error))


if __name__ == "__main__":
    main()
