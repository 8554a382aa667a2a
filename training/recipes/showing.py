"""The first examples of a run as a page, so that a person sees what is trained and what is only read."""

from collections.abc import Mapping
from typing import Any

from training.folders import replace_file
from training.recipes.chatml import MaskedIds
from training.recipes.run_folder import SAMPLES, TrainingFolder
from training.recipes.samples_page import ShownPiece, ShownSample, join_tokens, render_samples


def show_examples(folder: TrainingFolder, examples: Mapping[str, MaskedIds], tokenizer: Any) -> None:
    """Write the page. Each example stands under its title."""
    shown = [show_example(title, each, tokenizer) for title, each in examples.items()]
    replace_file(folder.path / SAMPLES, render_samples("Examples with their masks", shown).encode())


def show_example(title: str, example: MaskedIds, tokenizer: Any) -> ShownSample:
    """Return an example as the page shows it."""
    pieces = [ShownPiece(tokenizer.decode(run), trained) for run, trained in join_tokens(example.ids, example.trained)]
    return ShownSample(title, f"{len(example.ids)} tokens, {sum(example.trained)} of them trained", pieces)
