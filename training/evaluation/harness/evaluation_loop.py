"""The work on a benchmark's items, several at a time: answer, judge, store. A finished item is not worked again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.evaluation.harness.answering import Answerer
from training.evaluation.harness.example import AnyBenchmark, BenchmarkAnswer, Example
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.module_counts import MOST_SECTIONS, count_item
from training.evaluation.harness.scores import ItemScores
from workflows.systems.linear_pipeline import Window, run_pipeline


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """The end of one item: the numbers of done and of all items, and the reason why this one has no score, if it has none."""

    item: str
    done: int
    of: int
    problem: str = ""


@dataclass
class Evaluation:
    """One run over the chosen examples. `told` is called at the end of each item; a report has at most `sections` sections."""

    benchmark: AnyBenchmark
    examples: Sequence[Example[Any]]
    answering: Answerer
    judging: Judging
    folder: RunFolder
    at_once: int
    told: Callable[[EvaluationProgress], None] = lambda _: None
    sections: int = MOST_SECTIONS
    _answers: dict[str, BenchmarkAnswer] = field(default_factory=dict, init=False)
    _scores: dict[str, ItemScores] = field(default_factory=dict, init=False)

    async def work(self) -> list[ItemScores]:
        """Work the unfinished items, and return the scores of all items that have any, in the order of the examples.

        Items that failed, or lack a score, are tried again.
        """
        self._answers = {item: answer for item, answer in self.folder.read_answers().items() if not answer.failed}
        self._scores = {item: scores for item, scores in self.folder.read_scores().items() if not scores.missing}
        left = [example for example in self.examples if example.id not in self._scores]
        await run_pipeline(left, self._work_item, lambda *_: None, Window(self.at_once))
        kept = self.folder.read_scores()
        return [kept[example.id] for example in self.examples if example.id in kept]

    async def _work_item(self, example: Example[Any]) -> None:
        answer = self._answers.get(example.id)
        if answer is None:
            asked = {"question": example.question, "language": example.language, "domain": example.domain, "hops": example.hops}
            answer = (await self.answering.answer(example)).model_copy(update=asked)
            self.folder.keep_answer(answer)
        if answer.failed:
            self._report_progress(example.id, answer.failed)
            return
        judging, tally = self.judging.for_item(example.language)
        shown = answer.model_copy(update={"text": judging.shorten(self.benchmark.judged_text(answer.text))})
        scores = await self.benchmark.score(example, shown, judging)
        modules = count_item(answer, judging.turns(example.id), example.language, judging.kit.today, self.sections)
        update = {"domain": example.domain, "language": example.language, "usage": tally.usage}
        self._keep_scores(scores.model_copy(update={**update, "values": modules | scores.values}))

    def _keep_scores(self, scores: ItemScores) -> None:
        self.folder.keep_scores(scores)
        self._scores[scores.item] = scores
        self._report_progress(scores.item, "; ".join(dict.fromkeys(scores.missing.values())))

    def _report_progress(self, item: str, problem: str) -> None:
        self.told(EvaluationProgress(item, len(self._scores), len(self.examples), problem))
