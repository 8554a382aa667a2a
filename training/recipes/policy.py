"""The model that learns: loading it with its tokenizer and adapter, and saving what it has learned, as safetensors only."""

from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from training.evaluation.harness.manifest import digest_files
from training.folders import PART
from training.recipes.config import TINY, AdapterSection, BaseModelSection, RecipeConfig
from training.recipes.run_folder import BASE, TrainingFolder
from training.rollouts.chat_template import CHATML, CHATML_END

CARD = "README.md"
PICKLED = "training_args.bin"
"""The trainer writes its arguments as a pickle, which no one should have to load."""


def place_base(config: RecipeConfig, folder: TrainingFolder) -> str:
    """Return where the base model is loaded from; the tiny one is made in the run's folder."""
    if config.model.base != TINY:
        return config.model.base
    base = folder.path / BASE
    if not base.exists():
        from training.rollouts.tiny_policy import save_tiny_policy

        save_tiny_policy(base.with_name(BASE + PART), config.run.seed).rename(base)
    return str(base)


def load_tokenizer(section: BaseModelSection, base: str = "") -> Any:
    """Load the tokenizer, with our chat template unless its own is wanted.

    Under ours the token that ends a turn is that of the template, whatever else the tokenizer ends a text with.

    Raises:
        InvalidInput: there is none, it has no token that ends a turn, or pads with that token.
    """
    if (base or section.base) == TINY:
        from training.rollouts.tiny_policy import build_tiny_tokenizer

        return build_tiny_tokenizer()
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(base or section.base, revision=section.revision or None)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the base model {base or section.base!r} cannot be loaded; name its folder: {error}") from error
    if section.template == "chatml":
        _use_chatml(tokenizer)
    if tokenizer.eos_token is None or tokenizer.pad_token in (None, tokenizer.eos_token):
        # A padding token that is also the end would take the end out of the loss.
        tokenizer.pad_token = _find_pad(tokenizer)
    return tokenizer


def _use_chatml(tokenizer: Any) -> None:
    if CHATML_END not in tokenizer.get_vocab():
        raise InvalidInput(
            f"the tokenizer has no {CHATML_END}, which ends a turn: set [model] template = 'own', or take another base"
        )
    tokenizer.chat_template, tokenizer.eos_token = CHATML, CHATML_END


def _find_pad(tokenizer: Any) -> str:
    spare = [token for token in tokenizer.all_special_tokens if token != tokenizer.eos_token]
    if tokenizer.eos_token is None or not spare:
        raise InvalidInput("the tokenizer needs a token that ends a turn and another one for padding")
    return str(spare[0])


def load_model(section: BaseModelSection, base: str, dtype: str) -> Any:
    """Load the weights in this type; with `rope_factor`, its positions are stretched by YaRN."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(base, revision=section.revision or None)
    if section.rope_factor > 1:
        length = config.max_position_embeddings
        config.rope_parameters = {
            **(config.rope_parameters or {}),
            "rope_type": "yarn",
            "factor": section.rope_factor,
            "original_max_position_embeddings": length,
        }
        config.max_position_embeddings = int(length * section.rope_factor)
    return AutoModelForCausalLM.from_pretrained(
        base, config=config, revision=section.revision or None, dtype=getattr(torch, dtype)
    )


def make_adapter(section: AdapterSection | None) -> Any:
    """Return PEFT's configuration of the adapter; None where all weights are trained."""
    if section is None:
        return None
    from peft import LoraConfig

    return LoraConfig(
        task_type="CAUSAL_LM",
        r=section.rank,
        lora_alpha=section.alpha,
        lora_dropout=section.dropout,
        target_modules=section.targets,
    )


def save_trained(trainer: Any, folder: TrainingFolder) -> None:
    """Save the adapter in PEFT's layout, or all weights, with tokenizer, chat template and card. It appears as a whole.

    All processes of a run call it, because sharded weights are gathered.
    """
    part = folder.model.with_name(folder.model.name + PART)
    trainer.save_model(str(part))
    if trainer.is_world_process_zero():
        deliver_model(part, folder)


def deliver_model(part: Path, folder: TrainingFolder) -> None:
    """Make a saved model the one that the run delivers: with its card, and without pickles."""
    (part / PICKLED).unlink(missing_ok=True)
    library, what = ("peft", "A LoRA adapter") if (part / "adapter_config.json").exists() else ("transformers", "Weights")
    (part / CARD).write_text(render_card(folder, library, what), encoding="utf-8")
    part.rename(folder.model)


def render_card(folder: TrainingFolder, library: str, what: str) -> str:
    """Render the card of a model: `what` it is, and where it comes from: recipe, base with its revision, data, adapter, code."""
    origin = folder.origin
    base, revision = origin.config["model"]["base"], origin.config["model"].get("revision")
    adapter = digest_files(folder.model.glob("adapter_model.safetensors"))
    files = {"Base": origin.base, "Data": origin.data, "Adapter": adapter}
    digests = "".join(
        f"{name} (SHA-256):\n" + "".join(f"- `{file}`: {digest}\n" for file, digest in own.items()) + "\n"
        for name, own in files.items()
        if own
    )
    figures = "\n".join(f"| {name} | {value:.4g} |" for name, value in folder.read_figures().items())
    return (
        f"---\nlibrary_name: {library}\nbase_model: {base}\ntags: [rubrica, {origin.recipe}]\n---\n# {origin.recipe}\n\n"
        f"{what}, trained by Rubrica's recipe `{origin.recipe}` on `{base}`{f', revision `{revision}`' if revision else ''}. "
        "Serve it with the chat template in this folder, which it was trained with.\n\n"
        f"{digests}Code {origin.code}.\n" + (f"\n| figure | |\n|---|---|\n{figures}\n" if figures else "")
    )
