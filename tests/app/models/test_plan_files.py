"""What a plan says of a stage's set is held against what can be made, when the plan is read."""

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.models.service.plan_files import read_plan, require_inputs
from tests.support.retraining_plans import write_two_stages


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('inputs = ["sets/reports"]', "no absolute path"),
        ('inputs = ["@exports"]', "no absolute path"),
        ("", "no export is made into self-samples, the set of writer"),
        ('inputs = ["/srv/sets"]\ncollections = ["works"]', "made of inputs or of collections"),
        ('inputs = ["/srv/sets"]\nhome = "/srv/home"', "names a home, and no collections"),
        ('inputs = ["/srv/sets"]\ngenerator = "writer"', "is no stage before it with the role rubric"),
        ('inputs = ["/srv/sets"]\ngenerator = "@writer"', "generator"),
        ('inputs = ["/srv/sets"]\ngenerator = "rubric"\noptions = {generator = "http://g/v1"}', "names its generator twice"),
    ],
)
def test_a_set_that_cannot_be_made_is_told(tmp_path: Path, said: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_plan(write_two_stages(tmp_path, said))


@pytest.mark.parametrize("generator", ["rubric", "@rubric"])
def test_inputs_must_be_on_this_machine(tmp_path: Path, generator: str) -> None:
    source = tmp_path / "reports"
    plan = read_plan(write_two_stages(tmp_path, f'inputs = ["{source}"]\ngenerator = "{generator}"'))
    assert [(stage.inputs, stage.generator) for stage in plan.stages] == [(("@export",), None), ((str(source),), generator)]
    with pytest.raises(InvalidInput, match=f"the set of writer is to be made of {source}, and there is no such path"):
        require_inputs(plan)
    source.mkdir()
    require_inputs(plan)
