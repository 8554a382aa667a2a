"""The card of a version: what it learned from, what was measured, where it is weak, and nothing that a value could inject."""

import json
from datetime import UTC, datetime
from typing import Any

import asyncpg
from markdown_it import MarkdownIt

from app.domain.model_versions import ErasurePolicy, EvaluationKind, TrainedOn, VersionState
from app.models.service import registry
from app.models.service.card import read_curves, render_card
from app.models.service.erasure import carry_out_erasure
from app.models.service.figures import tabulate
from tests.app.models.trained_models import add_version

GATE = {
    "verdict": "refused",
    "rows": [
        {"metric": "wins of readers", "kind": "proof", "difference": 0.08, "low": 0.02, "high": 0.14, "relative": True},
        {
            "metric": "citations | precision",
            "kind": "proof",
            "difference": -0.051,
            "low": -0.09,
            "high": -0.01,
            "relative": False,
        },
        {"metric": "length", "kind": "alarm", "difference": None, "low": None, "high": None, "relative": False},
    ],
    "leaks": None,
    "reasons": ["reports are 40% longer than their references", {"name": "copied prompts", "share": 0.125}],
}
RUN = {"curves": {"loss": [[1, 0.9], [2, 0.5], [3, 0.6]]}, "figures": {"faults before": 0.25, "faults after": 0.125}}


def read_head(head: str) -> dict[str, Any]:
    """The YAML head, of which every value is JSON."""
    return {name: json.loads(value) for name, value in (line.split(": ", 1) for line in head.strip().splitlines())}


async def test_a_card_tells_data_curves_gates_weaknesses_licence_and_erasure(pool: asyncpg.Pool) -> None:
    sets = (
        TrainedOn(kind="preference-pairs", digest="cd" * 32, rows=412, key="k1", consents_at=datetime(2026, 11, 2, tzinfo=UTC)),
    )
    parent = await add_version(pool)
    version = await add_version(pool, sets=sets, parent=parent.id, pairs=("p1", "p2"), on_erasure=ErasurePolicy.WITHDRAW)
    for kind, figures in ((EvaluationKind.TRAINING, RUN), (EvaluationKind.GATE, GATE)):
        await registry.note_evaluation(pool, version.id, kind, figures)
    async with pool.acquire() as connection, connection.transaction():
        await registry.change_state(connection, version.id, VersionState.REFUSED, "cycle", "the gate | refused <b>it</b>")
    detail = await registry.describe_version(pool, version.id)
    card = render_card(detail)
    _, head, body = card.split("---\n", 2)
    assert read_head(head) == {
        "library_name": "peft",
        "base_model": "Qwen/Qwen3-4B",
        "license": "apache-2.0",
        "tags": ["rubrica", "writer", "preference_dpo"],
    }
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(body)
    cells = {part.split("</td>")[0] for part in html.split("<td>")[1:]}
    assert {"412", "2026-11-02 00:00 UTC", "0.9", "0.6", "0.125", "citations | precision", "-0.051", "no"} <= cells
    assert "the gate | refused &lt;b&gt;it&lt;/b&gt;" in cells
    weak = html.split("Known weaknesses</h2>")[1].split("<h2>")[0]
    assert "citations | precision: -0.051 (-0.09 to -0.01)" in weak
    assert "reports are 40% longer" in weak
    assert "copied prompts" in weak
    assert "wins of readers" not in weak
    assert "It learned from 2 judgements of readers" in html
    assert "is withdrawn, and the model before it serves again (where there is none, once another is promoted)" in html
    assert f"{parent.name} → {version.name}" in html
    assert read_curves(detail.evaluations) == {"loss": [(1.0, 0.9), (2.0, 0.5), (3.0, 0.6)]}


async def test_a_card_counts_what_was_erased_among_what_it_learned_from(pool: asyncpg.Pool) -> None:
    version = await add_version(pool, pairs=("p1", "p2", "p3"))
    await carry_out_erasure(pool, frozenset({"p1", "p2"}), "")
    detail = await registry.describe_version(pool, version.id)
    when = f"{detail.evaluations[-1].at:%Y-%m-%d}"
    assert (
        f"It learned from 3 judgements of readers (its rows for training and for validation), of which 1 was erased on {when}"
        in (render_card(detail).replace("\\", ""))
    )


async def test_a_card_of_nothing_says_what_is_not_known(pool: asyncpg.Pool) -> None:
    version = await add_version(pool, sets=(), recipe="", configuration={}, build="", licence="Some licence: v2\n---")
    card = render_card(await registry.describe_version(pool, version.id))
    head = read_head(card.split("---\n", 2)[1])
    assert (head["license"], head["license_name"]) == ("other", "Some licence: v2\n---")
    for told in ("Nothing is known of what it learned from", "None was measured", "trained on Qwen/Qwen3-4B"):
        assert told in card.replace("\\", "")


def test_figures_of_any_shape_become_tables() -> None:
    told = {
        "n": 3,
        "seeds": [1, 2],
        "by": {"long": {"wins": 0.51239}, "short": {"wins": None, "ties": True}},
        "at": {"p": {"q": 1}},
    }
    assert tabulate({**told, "none": [], "empty": {}}) == [
        ("", ("", ""), (("n", "3"), ("seeds", "1, 2"), ("none", ""))),
        ("by", ("", "wins", "ties"), (("long", "0.5124", ""), ("short", "", "yes"))),
        ("at", ("", "q"), (("p", "1"),)),
    ]
