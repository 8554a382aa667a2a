"""The sitting of an exam: who is examined, and what belongs to the stage."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from app.domain.served_models import Notation
from training.recipes.judge_section import JudgeSection
from workflows.agents.ports import ChatModel


@dataclass(frozen=True, slots=True)
class ExamSitting:
    """The holder of a role and the candidate, at the server where they serve and in its notation.

    `own_set` is the stage's set; in `folder` all answers are stored, those of judges too. `generator` is what writes the stage's
    rubrics.
    """

    holder: ChatModel
    candidate: ChatModel
    own_set: Path
    folder: Path
    today: date
    notation: Notation = Notation.TAGS
    generator: JudgeSection | None = None
