"""A run as one HTML page without scripts and outside files. Names and questions are text, never markup."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from app.domain.budget import Usage
from app.domain.missing import Missing
from training.evaluation.harness.example import AnyBenchmark, BenchmarkAnswer
from training.evaluation.harness.figure_table import render_figure_table
from training.evaluation.harness.figures import FigureEstimate, estimate_figures, group_figure
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import ModelUsed, RunManifest
from training.evaluation.harness.modules_page import render_modules
from training.evaluation.harness.scores import ItemScores
from training.evaluation.intervals import Interval
from training.pages.markup import format_number, render_document, render_table
from training.pages.plots import draw_bars, draw_histogram, draw_intervals, draw_scatter

FEWEST_POINTS = 3
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything in the folder of a finished or unfinished run."""

    manifest: RunManifest
    answers: Mapping[str, BenchmarkAnswer]
    scores: Mapping[str, ItemScores]

    @property
    def scored(self) -> list[ItemScores]:
        """The scored items, in their order."""
        return [self.scores[item] for item in self.manifest.items if item in self.scores]

    @property
    def problems(self) -> dict[str, str]:
        """The reasons why items lack scores, by item."""
        found: dict[str, str] = {}
        for item in self.manifest.items:
            answer, scores = self.answers.get(item), self.scores.get(item)
            if answer is not None and answer.failed:
                found[item] = f"no answer: {answer.failed}"
            elif scores is None:
                found[item] = "not worked yet"
            elif scores.missing:
                found[item] = "; ".join(dict.fromkeys(scores.missing.values()))
        return found

    @property
    def answering(self) -> Usage:
        """The usage of the answers."""
        return sum((answer.usage for answer in self.answers.values()), Usage())

    @property
    def judging(self) -> Usage:
        """The usage of the judge."""
        return sum((scores.usage for scores in self.scores.values()), Usage())


def read_record(folder: Path) -> RunRecord:
    """Read the folder of a run.

    Raises:
        NotFound: there is no run in this folder.
    """
    run = RunFolder(folder)
    return RunRecord(run.read_manifest(), run.read_answers(), run.read_scores())


def render_page(record: RunRecord, benchmark: AnyBenchmark) -> str:
    """Render the whole page."""
    manifest, found = record.manifest, estimate_figures(benchmark.figures, record.scored)
    parts = [
        f"<h1>{escape(benchmark.name)}: {escape(manifest.system.name)}</h1><p>{escape(benchmark.about)}</p>",
        _render_warning(manifest),
        f"<p>{len(record.scored)} of {len(manifest.items)} items scored, {len(record.problems)} with problems.</p>",
        render_figure_table(found),
        *_draw_plots(record, benchmark, found),
        _render_groups(record, benchmark),
        *render_modules(main_value_of(benchmark), record.scored),
        "<h2>What it cost</h2>",
        render_table(["", "calls", "input tokens", "output tokens", "US$"], _cost_rows(record)),
        "<h2>What it was made with</h2>",
        render_table(["", ""], manifest_rows_of(manifest)),
        _render_problems(record.problems),
        "<h2>Items</h2>",
        _render_items(record, benchmark),
    ]
    return render_document(f"{benchmark.name}: {manifest.system.name}", parts)


def main_value_of(benchmark: AnyBenchmark) -> str:
    """Return the name of the first value that a benchmark's first figure needs."""
    return next(iter(benchmark.figures.values())).needs[0]


def _render_warning(manifest: RunManifest) -> str:
    if not manifest.demonstration:
        return ""
    return '<p class="warning"><b>A demonstration.</b> Its judge or its model is a stand-in: nothing here measures anything.</p>'


def _draw_plots(record: RunRecord, benchmark: AnyBenchmark, found: Sequence[FigureEstimate]) -> list[str]:
    rows = {figure.name: figure.interval for figure in found if isinstance(figure.interval, Interval)}
    drawn = [draw_intervals("Figures with their 95% intervals", rows)] if rows else []
    main = main_value_of(benchmark)
    values = [score.values[main] for score in record.scored if main in score.values]
    if len(values) >= FEWEST_POINTS:
        drawn.append(draw_histogram(f"{main} by item", values, main))
    seconds = [
        (answer.seconds, score.values[main])
        for score in record.scored
        if main in score.values and (answer := record.answers.get(score.item)) and answer.seconds
    ]
    if len(seconds) >= FEWEST_POINTS:
        drawn.append(draw_scatter(f"{main} by time", seconds, ("seconds to answer", main)))
    return [f"<figure>{svg}</figure>" for svg in drawn]


def _render_groups(record: RunRecord, benchmark: AnyBenchmark) -> str:
    """Render the main figure by domain and by language, where there are several."""
    name, figure = next(iter(benchmark.figures.items()))
    parts = []
    for title, groups in (
        ("domain", group_figure(figure, record.scored, lambda score: score.domain)),
        ("language", group_figure(figure, record.scored, lambda score: score.language.value)),
    ):
        values = {group: value for group, (value, _) in groups.items() if not isinstance(value, Missing)}
        if len(groups) > 1:
            shown = [[group or "–", format_number(value), str(items)] for group, (value, items) in groups.items()]
            parts.append(f"<h2>By {title}</h2>" + render_table([title, name, "items"], shown))
            parts.append(f"<figure>{draw_bars(f'{name} by {title}', values, name)}</figure>" if values else "")
    return "\n".join(parts)


def _cost_rows(record: RunRecord) -> list[list[str]]:
    rows = (("answers", record.answering), ("judging", record.judging))
    return [
        [name, str(u.model_calls), str(u.input_tokens), str(u.output_tokens), f"{u.cost_microusd / MICRO:.4f}"]
        for name, u in rows
    ]


def manifest_rows_of(manifest: RunManifest) -> list[tuple[str, str]]:
    """Return the manifest in rows of name and value."""
    system, judge = manifest.system, manifest.judge
    rows = [
        ("benchmark", f"{manifest.benchmark} {manifest.variant}"),
        ("data (SHA-256)", ", ".join(f"{name} {digest[:12]}" for name, digest in manifest.data.items())),
        ("answered by", " ".join(part for part in (system.name, system.effort, system.composition, system.reports[:12]) if part)),
        ("its model", _describe_model(system.model)),
        ("at most", ", ".join(f"{n} {what}" for what, n in system.caps.model_dump().items() if n)),
        ("at temperature", "" if system.temperature is None else f"{system.temperature:g}"),
        ("judge", _describe_model(judge.model)),
        ("judge is shown", f"{judge.most_chars} characters of a report" if judge.most_chars else ""),
        ("judge's prompts (SHA-256)", ", ".join(f"{name} {digest[:12]}" for name, digest in judge.prompts.items())),
        ("corpora", ", ".join(f"{name} {generation}".strip() for name, generation in system.corpora.items())),
        ("services outside", ", ".join(system.services)),
        ("seed", str(manifest.seed)),
        ("code", manifest.code),
        ("begun", manifest.started_at.isoformat(timespec="seconds")),
    ]
    return [row for row in rows if row[1].strip()]


def _describe_model(model: ModelUsed | None) -> str:
    if model is None:
        return "none"
    return f"{model.name} ({model.codec}; US$ {model.input_price} and {model.output_price} a million tokens)"


def _render_problems(problems: Mapping[str, str]) -> str:
    return (
        "<h2>Problems</h2>" + render_table(["item", "why"], [[item, why] for item, why in problems.items()]) if problems else ""
    )


def _render_items(record: RunRecord, benchmark: AnyBenchmark) -> str:
    names = list(dict.fromkeys(name for figure in benchmark.figures.values() for name in figure.needs))
    rows = [
        [
            score.item,
            score.domain,
            score.language.value,
            *(format_number(score.values[n]) if n in score.values else "–" for n in names),
        ]
        for score in record.scored
    ]
    return render_table(["item", "domain", "language", *names], rows)
