"""The decision to end the cold start: format learned at long contexts, loss flat, entropy kept (MDR 5.1)."""

from collections.abc import Sequence
from statistics import fmean

from training.recipes.run_folder import StepMetrics
from training.recipes.sft_cold_start.config import StoppingSection
from training.recipes.sft_cold_start.format_limit import RULES, find_format_limit

LOSS, ENTROPY, FORMAT = "loss", "policy_entropy", "format_errors"


def name_format(context: int) -> str:
    """Return the name under which the format errors at a context length are logged."""
    return f"{FORMAT}/{context}"


def may_end(rule: StoppingSection, metrics: Sequence[StepMetrics]) -> bool:
    """Say whether all three conditions hold at the last check.

    A length at which nothing could be checked never holds.
    """
    checks = [each for each in metrics if ENTROPY in each.values]
    if not checks:
        return False
    return (
        _is_format_learned(rule, checks[-1])
        and _is_flat(rule, [each.values[LOSS] for each in metrics if LOSS in each.values])
        and _is_entropy_kept(rule, checks)
    )


def _is_format_learned(rule: StoppingSection, check: StepMetrics) -> bool:
    limit = find_format_limit(RULES[rule.limit])
    return all(check.values.get(name_format(context), 1.0) <= limit for context in rule.contexts)


def _is_flat(rule: StoppingSection, losses: Sequence[float]) -> bool:
    if len(losses) < 2 * rule.window:
        return False
    before, now = fmean(losses[-2 * rule.window : -rule.window]), fmean(losses[-rule.window :])
    return now > before * (1.0 - rule.flat)


def _is_entropy_kept(rule: StoppingSection, checks: Sequence[StepMetrics]) -> bool:
    middle = next((each.values[ENTROPY] for each in checks if each.step >= rule.mid_step), None)
    return middle is not None and checks[-1].values[ENTROPY] >= rule.entropy_kept * middle
