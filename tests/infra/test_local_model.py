"""What a served model takes, with the context that a setting asks for."""

from pathlib import Path

import pytest

from app.domain.errors import SetupError
from app.settings import Settings
from infra.local import model
from infra.local.home import Home
from infra.local.model import SLOTS, ModelAtHand, describe_model
from workflows.chat_models import embedded

MODEL = ModelAtHand("m", Path("m.gguf"), context=4_096, memory_mb=2_600, token_bytes=28_672)


def test_a_larger_context_takes_more_memory_in_each_slot() -> None:
    larger = MODEL.with_context(32_768)
    assert larger.memory_mb == 2_600 + 28_672 * SLOTS * 28_672 // 10**6
    assert describe_model(larger).startswith(f"model m: a context of 32,768 tokens, about {larger.memory_mb:,} MB of memory")


def test_without_a_wish_a_model_keeps_its_context_and_a_smaller_one_promises_nothing() -> None:
    assert MODEL.with_context(0) == MODEL
    assert (MODEL.with_context(2_048).context, MODEL.with_context(2_048).memory_mb) == (2_048, 2_600)


def test_a_smaller_context_is_advised_only_where_a_larger_one_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.gguf").write_bytes(b"weights")
    monkeypatch.setattr(model, "read_free_memory_mb", lambda: 500)
    monkeypatch.setattr(embedded, "require_engine", lambda: None)
    for context, advice in ((0, "end other programs"), (65_536, "end other programs, or set a smaller RUBRICA_LLM_CONTEXT")):
        settings = Settings(local_model=str(tmp_path / "m.gguf"), llm_context=context)
        with pytest.raises(SetupError) as refused:
            model.prepare_model(settings, Home(tmp_path))
        assert str(refused.value).endswith(f"500 MB are free; {advice}")
