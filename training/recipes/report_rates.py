"""Rates of faults in the policy's reports, before and after training (MDR Table 6), as `workflows/checks` sees them.

Reports are sampled for prompts that are not trained on; the same draws before and after.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

import torch

from app.domain.missing import Missing
from training.evaluation.report_metrics import MeasuredReport, measure_reports
from training.recipes.chatml import encode_prompt
from training.recipes.rates_section import RatedConfig, RatesSection
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_loop import finish, train_on
from training.rewards.notations import Notation
from training.rewards.quote_citations import read_draft
from training.rewards.score import Score
from training.synthesis.trajectories.conversations import TrainedMessage
from workflows.agents.parsing import remove_thinking

BEFORE, AFTER = "before", "after"
Conversation: TypeAlias = Sequence[TrainedMessage]


def train_and_rate(trainer: Any, config: RatedConfig, folder: TrainingFolder, prompts: Sequence[Conversation]) -> None:
    """Train from the last checkpoint, and leave the model in the folder, with the rates before and after."""
    keep_rates(BEFORE, trainer, config, folder, prompts)
    train_on(trainer, folder)
    keep_rates(AFTER, trainer, config, folder, prompts)
    finish(trainer, config, folder)


def keep_rates(moment: str, trainer: Any, config: RatedConfig, folder: TrainingFolder, prompts: Sequence[Conversation]) -> None:
    """Measure the rates of this moment, unless the folder has them, and keep them as figures of the run."""
    if not prompts or any(name.endswith(moment) for name in folder.read_figures()):
        return
    section = config.rates
    model, tokenizer = trainer.accelerator.unwrap_model(trainer.model), trainer.processing_class
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(config.run.seed)
        reports = [sample_report(model, tokenizer, prompt, section) for prompt in prompts[: section.prompts]]
    rates = measure_rates(reports, section.written or folder.origin.started_at.date())
    folder.keep_figures({f"{name}, {moment}": rate for name, rate in rates.items() if not isinstance(rate, Missing)})


def measure_rates(reports: Sequence[str], written: date) -> Mapping[str, Score]:
    """Return the rates of table, tense and expression faults; missing where there is nothing to take a share of."""
    figures = measure_reports([MeasuredReport(report, written) for report in reports])
    return {
        "faulty tables": figures.table_errors,
        "faulty tables after repair": figures.table_errors_after_repair,
        "tense errors": figures.tense_error_rate,
        "reports with tense errors": figures.reports_with_tense_errors,
        "expression faults": figures.expression_issue_rate,
    }


def sample_report(model: Any, tokenizer: Any, prompt: Conversation, section: RatesSection) -> str:
    """Sample a report from the policy. Where it stands in no tag, it is all but the private thinking."""
    ids = torch.tensor([encode_prompt(prompt, tokenizer)], device=model.device)
    was_training = model.training
    model.eval()
    sampled = model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        temperature=section.temperature,
        top_k=0,
        max_new_tokens=section.tokens,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model.train(was_training)
    said = str(tokenizer.decode(sampled[0, ids.shape[1] :], skip_special_tokens=True))
    return read_draft(said, Notation.TAGS) or remove_thinking(said)
