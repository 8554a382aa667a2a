"""A tiny policy that has learned to enclose a few words as its answer. A random one never does: its reports all score alike."""

from collections.abc import Sequence
from pathlib import Path

from training.recipes.chatml import mask_answer
from training.recipes.report_rl.data import ReportMaterial
from training.rollouts.nouns import Task
from training.synthesis.trajectories.conversations import TrainedMessage

ANSWERS = ("oak [q1].", "It froze [q2].", "A pier.", "The port of oak [q1].")
STEPS, RATE = 30, 3e-3


def save_enclosing_policy(folder: Path, tasks: Sequence[Task[ReportMaterial]]) -> Path:
    """Fine-tune the tiny random policy on short answers in tags; return its folder."""
    import torch

    from training.rollouts.tiny_policy import build_tiny_model, build_tiny_tokenizer

    tokenizer = build_tiny_tokenizer()
    model = build_tiny_model(tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), RATE)
    for step in range(STEPS):
        material = tasks[step % len(tasks)].material
        prompt = [TrainedMessage(role=message.role, content=message.content) for message in material.prompt]
        row = mask_answer(prompt, f"<answer>{ANSWERS[step % len(ANSWERS)]}</answer>", tokenizer)
        loss = model(input_ids=torch.tensor([row.ids]), labels=torch.tensor([row.labels])).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
