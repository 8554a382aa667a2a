"""A plan of two stages on disk: a generator of rubrics, and a writer."""

from pathlib import Path

STAGE = """
[[stages]]
name = "{name}"
role = "{name}"
recipe = "{recipe}"
config = "recipe.toml"
kind = "{kind}"
gate = "gate.toml"
exam = "exam.toml"
server = {{address = "http://127.0.0.1:9/v1", base = "base"}}
"""


def write_two_stages(folder: Path, said_of_writer: str) -> Path:
    """Write the plan, with what is said of the writer's set."""
    for file in ("recipe.toml", "gate.toml", "exam.toml"):
        (folder / file).touch()
    rubric = STAGE.format(name="rubric", recipe="rubric_generator", kind="preference-pairs")
    writer = STAGE.format(name="writer", recipe="preference_dpo", kind="self-samples") + said_of_writer
    (folder / "plan.toml").write_text(f'name = "weekly"\nsince = 2026-01-01T00:00:00Z\n{rubric}\n{writer}\n')
    return folder / "plan.toml"
