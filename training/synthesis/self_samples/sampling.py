"""Sampling a policy: several outputs for one prompt.

Each has its seed. A record keeps them apart by it, and a server that knows seeds gives the same outputs again.
"""

import asyncio
from dataclasses import dataclass

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelError
from app.domain.missing import Missing
from training.rewards.score import require_present
from training.synthesis.self_samples.prompts import SamplePrompt
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent

AGENT, STEP = "synthesis/self_sample", "self_sample"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a policy is sampled. The samples have the seeds from `first_seed` on."""

    samples: int
    temperature: float
    max_tokens: int
    first_seed: int = 0


async def sample_outputs(kit: Kit, prompt: SamplePrompt, sampling: Sampling) -> list[Completion] | Missing:
    """Return the distinct outputs that say something, in the order of their seeds; missing where a call fails."""
    seeds = range(sampling.first_seed, sampling.first_seed + sampling.samples)
    outputs = require_present(await asyncio.gather(*(_sample(kit, prompt, sampling, seed) for seed in seeds)))
    if isinstance(outputs, Missing):
        return outputs
    return list({output.text: output for output in reversed(outputs) if output.text.strip()}.values())[::-1]


async def _sample(kit: Kit, prompt: SamplePrompt, sampling: Sampling, seed: int) -> Completion | Missing:
    request = ChatRequest(messages=prompt.messages, max_tokens=sampling.max_tokens, temperature=sampling.temperature, seed=seed)
    try:
        return await kit.record.ask(AGENT, STEP, kit.chat, request)
    except (ModelError, BudgetSpent) as error:
        return Missing(f"the sample of seed {seed}: {error}")
