"""What an agent reads of the thoughts of others."""

from dataclasses import replace

from app.domain.budget import StopReason
from app.domain.evidence import Finding
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.agents.scripted_search import PLAN, QUERY, SUBTASK, make_acting_model, write_act
from workflows.agents.deep_search import search_deeply
from workflows.agents.memory import SharedMemory
from workflows.agents.stage_memory import memory_of_report

RELEVANT = "The tariff of 1824 had protection as its reason; " + "look at wool, iron and hemp next. " * 12
OTHER = "Steamboats on the western rivers carried the post from one landing to another. " * 12


async def read_memory(*findings: Finding) -> str:
    model = make_acting_model(write_act("search", "tariff of 1824"))
    kit = replace(make_kit(model, make_record()), memory=memory_of_report(PLAN, findings, SharedMemory()))
    await search_deeply(SUBTASK, PLAN, QUERY, kit)
    return model.requests[0].messages[-1].content


async def test_a_reader_gets_whole_thoughts_by_relevance_each_with_its_author() -> None:
    noise = tuple(f"{OTHER} {n}" for n in range(9))
    seen = await read_memory(
        Finding(subtask_id="s7", thoughts=(RELEVANT.strip(), *noise), stop=StopReason.SUFFICIENT),
        Finding(subtask_id="s8", thoughts=("Protection was a reason in 1824 too.",), stop=StopReason.SUFFICIENT),
    )
    assert f"[search/s7, thought] {RELEVANT.strip()}" in seen, "it was the first of ten, and is longer than 300 characters"
    assert "[search/s8, thought] Protection was a reason in 1824 too." in seen
    assert 0 < seen.count("Steamboats on the western") // 12 < 9, "the rest of the room goes to the latest"
    assert f"{OTHER} 8" in seen


async def test_findings_and_gaps_are_always_read() -> None:
    seen = await read_memory(
        Finding(subtask_id="s7", answer="Nothing of it.", gaps=("wages",), thoughts=(OTHER * 9,), stop=StopReason.SUFFICIENT)
    )
    assert "[search/s7, finding] Nothing of it." in seen
    assert "[search/s7, gap] wages" in seen
    assert "Steamboats" not in seen, "a thought that does not fit is left out, not cut"
