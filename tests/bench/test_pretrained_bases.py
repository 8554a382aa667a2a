"""A task of `bench.learning` that begins with weights in a folder."""

from pathlib import Path

import pytest

from bench.learning_tasks.beginnings import Start, build_base, build_tokenizer
from bench.learning_tasks.reports import ReportTask, describe_rl

ITEMS = 4


def save_base(folder: Path) -> Path:
    """Write a model as Qwen's are published: in bfloat16, with a tokenizer that pads with the end of a text."""
    import torch
    from transformers import AutoModelForCausalLM

    tokenizer = build_tokenizer(())
    build_base(folder, tokenizer, seed=5)
    AutoModelForCausalLM.from_pretrained(folder).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.eos_token, tokenizer.chat_template = tokenizer.pad_token, None
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """The start from such a model."""
    return Start(save_base(tmp_path / "published"), "bfloat16")


@pytest.mark.extra("trl")
@pytest.mark.slow
def test_a_task_trains_a_pretrained_base_with_its_own_tokenizer(tmp_path: Path, start: Start) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path / "seed"
    scores = ReportTask(steps=1, examples=16, items=ITEMS).run_seed(folder, 1, start)
    assert [len(each.items) for each in (scores.untrained, scores.sft, scores.trained, scores.ablated)] == [ITEMS] * 4
    assert start.base is not None
    assert not (folder / "base").exists()
    trained = folder / "trained" / "model"
    assert AutoTokenizer.from_pretrained(trained).get_vocab() == AutoTokenizer.from_pretrained(start.base).get_vocab()
    assert AutoModelForCausalLM.from_pretrained(trained).dtype is torch.float32


def test_a_pretrained_base_has_more_tokens_and_smaller_steps() -> None:
    tiny, large = describe_rl(Path("base"), Start(), 1), describe_rl(Path("base"), Start(Path("base"), "bfloat16", "auto"), 1)
    assert large.rollouts.most_tokens == 10 * tiny.rollouts.most_tokens
    assert large.rollouts.context == 10 * tiny.rollouts.context
    assert large.optimizer.learning_rate == tiny.optimizer.learning_rate / 200
    assert (large.rollouts.rollouts_a_step, large.accumulation) == (tiny.rollouts.rollouts_a_step, 8)


def test_a_row_names_the_base_and_its_type_except_for_tiny_models_on_the_cpu() -> None:
    assert Start().list_machine() == []
    assert Start(Path("models/qwen-0.5b"), "bfloat16").list_machine() == ["qwen-0.5b", "bfloat16"]
