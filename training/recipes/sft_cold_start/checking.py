"""The checks of the stopping rule: sampled answers are read strictly, and entropy is measured where the policy is trained."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from transformers import TrainerCallback

from app.domain.chat import ChatRole
from training.recipes.chatml import MaskedIds, encode_prompt, mask_conversation
from training.recipes.fitting import keep_fitting
from training.recipes.run_folder import TrainingFolder
from training.recipes.sft_cold_start.config import ColdStartConfig, StoppingSection
from training.recipes.sft_cold_start.data import read_validation
from training.recipes.sft_cold_start.stopping import ENTROPY, LOSS, may_end, name_format
from training.rewards.notations import read_tags
from training.rewards.transcript import TOOLS
from training.synthesis.trajectories.conversations import TrainedConversation

NEAR = (0.5, 1.2)
LOGITS_AT_ONCE = 2_048
"""The lengths, as shares of a context, that stand for it."""


@dataclass(frozen=True, slots=True)
class FormatPrompt:
    """A prompt, and the step whose answer it asks for."""

    ids: tuple[int, ...]
    step: str


def list_prompts(
    conversations: Iterable[TrainedConversation], rule: StoppingSection, tokenizer: Any
) -> dict[int, list[FormatPrompt]]:
    """Return the prompts for each context length: evenly drawn from all turns of that length."""
    found = [prompt for each in conversations for prompt in _list_turns(each, tokenizer)]
    near = {c: [p for p in found if NEAR[0] * c < len(p.ids) <= NEAR[1] * c] for c in rule.contexts}
    return {context: _thin_out(prompts, rule.prompts) for context, prompts in near.items()}


def _list_turns(conversation: TrainedConversation, tokenizer: Any) -> Iterable[FormatPrompt]:
    """Yield a prompt for each trained turn. What the policy said before the conversation began has no step."""
    said = [number for number, message in enumerate(conversation.messages) if message.role is ChatRole.ASSISTANT]
    for place, step in zip(said[-len(conversation.steps) :], conversation.steps, strict=False):
        if not conversation.messages[place].trained:
            continue
        yield FormatPrompt(encode_prompt(conversation.messages[:place], tokenizer), step)


def _thin_out(prompts: Sequence[FormatPrompt], most: int) -> list[FormatPrompt]:
    stride = max(1, -(-len(prompts) // most))
    return list(prompts[::stride])


def is_in_form(answer: str) -> bool:
    """Say whether an answer in tags has its form without any repair."""
    return read_tags(answer, TOOLS).well_formed


class StoppingCallback(TrainerCallback):  # type: ignore[misc]
    """Measures format and entropy every so many steps, and ends the training where the rule says so."""

    def __init__(self, config: ColdStartConfig, rule: StoppingSection, folder: TrainingFolder, tokenizer: Any) -> None:
        self._rule, self._folder, self._tokenizer, self._seed = rule, folder, tokenizer, config.run.seed
        conversations = read_validation(config)
        self._prompts = list_prompts(conversations, rule, tokenizer)
        masked = [mask_conversation(each.messages, tokenizer) for each in conversations]
        self._examples = keep_fitting(masked, config.data.max_tokens).examples[: rule.prompts] if masked else []

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kept: Any) -> None:
        """Check after the step's loss is logged. What was measured is in the folder, so a resumed run decides the same."""
        if LOSS not in (logs or {}) or state.global_step % self._rule.check_every or not state.is_world_process_zero:
            return
        self._folder.keep_metrics(state.global_step, self._measure(kept["model"], state.global_step))
        if may_end(self._rule, self._folder.read_metrics()):
            # A run that goes on from the checkpoint of its last step would not stop there again, so there is none.
            control.should_training_stop, control.should_save = True, False

    def _measure(self, model: Any, step: int) -> Mapping[str, float]:
        training = model.training
        model.eval()
        # The draws of the check must not move those of the training, or a run without checks would be another run.
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(self._seed + step)
            measured = {
                name_format(context): fmean(not is_in_form(self._answer(model, p)) for p in prompts)
                for context, prompts in self._prompts.items()
                if prompts
            }
            if self._examples:
                measured[ENTROPY] = measure_entropy(model, self._examples)
        model.train(training)
        return measured

    def _answer(self, model: Any, prompt: FormatPrompt) -> str:
        ids = torch.tensor([prompt.ids], device=model.device)
        sampled = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=True,
            temperature=self._rule.temperature,
            top_k=0,
            max_new_tokens=self._rule.answer_tokens,
            eos_token_id=self._tokenizer.eos_token_id,
            pad_token_id=self._tokenizer.pad_token_id,
        )
        return str(self._tokenizer.decode(sampled[0, len(prompt.ids) :], skip_special_tokens=True))


def measure_entropy(model: Any, examples: Sequence[MaskedIds]) -> float:
    """Return the mean entropy of the next token, in nats, over all trained tokens."""
    entropies = [_entropy_of(model, each) for each in examples]
    return float(torch.cat(entropies).mean())


def _entropy_of(model: Any, example: MaskedIds) -> torch.Tensor:
    """Return the entropies (trained tokens). Logits of all tokens of a long example at once would not fit in memory."""
    ids = torch.tensor([example.ids], device=model.device)
    places = torch.tensor(example.trained[1:], device=model.device).nonzero()[:, 0]
    parts = (model(ids, logits_to_keep=part, use_cache=False).logits[0].float() for part in places.split(LOGITS_AT_ONCE))
    return torch.cat([torch.distributions.Categorical(logits=logits).entropy() for logits in parts])
