"""What a served model takes, with the context that a setting asks for."""

from pathlib import Path

from infra.local.model import SLOTS, ModelAtHand, describe_model

MODEL = ModelAtHand("m", Path("m.gguf"), context=4_096, memory_mb=2_600, token_bytes=28_672)


def test_a_larger_context_takes_more_memory_in_each_slot() -> None:
    larger = MODEL.with_context(32_768)
    assert larger.memory_mb == 2_600 + 28_672 * SLOTS * 28_672 // 10**6
    assert describe_model(larger).startswith(f"model m: a context of 32,768 tokens, about {larger.memory_mb:,} MB of memory")


def test_without_a_wish_a_model_keeps_its_context_and_a_smaller_one_promises_nothing() -> None:
    assert MODEL.with_context(0) == MODEL
    assert (MODEL.with_context(2_048).context, MODEL.with_context(2_048).memory_mb) == (2_048, 2_600)
