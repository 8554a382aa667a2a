"""What a report is held to, and how it did: `rubrica runs rubric` and `rubrica runs scorecard`."""

import json
from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import InvalidInput
from app.domain.rubric import Rubric
from app.settings import Settings
from infra.cli.connection import connected
from infra.cli.execute import say
from infra.cli.forecast import scores
from infra.cli.run_commands import find
from rubrica_client import asking
from rubrica_client.models import Criterion


async def rubric(settings: Settings, run_id: str, edit: Path | None) -> int:
    """Print the criteria, in the form in which `--edit` takes them."""
    criteria = _read(edit) if edit else None
    async with connected(settings, say) as connection:
        name = (await find(connection.api, run_id)).id
        if criteria is not None:
            await connection.api.send(asking.edit_rubric(name, criteria))
        kept = (await connection.api.send(asking.rubric(name))).rubric
        if kept.notice:
            say(kept.notice)
        print(json.dumps([criterion.model_dump() for criterion in kept.criteria], indent=1, ensure_ascii=False))
    return 0


async def scorecard(settings: Settings, run_id: str) -> int:
    """Print the scorecard."""
    async with connected(settings, say) as connection:
        print(scores(await connection.api.send(asking.scorecard((await find(connection.api, run_id)).id))))
    return 0


def _read(path: Path) -> list[Criterion]:
    """Criteria that the API will take, checked before anything starts."""
    try:
        rubric = Rubric.model_validate({"criteria": json.loads(path.read_text())})
    except (OSError, ValueError, ValidationError) as error:
        raise InvalidInput(f"{path} holds no usable rubric: {error}") from error
    return [Criterion(**criterion.model_dump()) for criterion in rubric.criteria]
