"""Rows of training sets as recipes read them: of one kind, unchanged since they were made, each in its form."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from app.domain.errors import InvalidInput
from app.domain.split import Split
from training.evaluation.harness.manifest import digest_files, name_apart
from training.rewards.notations import Notation
from training.synthesis.training_set.folder import ROWS, SetFolder

R = TypeVar("R", bound=BaseModel)


def read_rows(sets: Sequence[Path], forms: Mapping[str, type[R]], split: Split) -> list[R]:
    """Read a split's rows of all sets. `forms` has the form of a row by the kind of set.

    Raises:
        NotFound: a folder holds no finished set.
        InvalidInput: a set is of another kind, has changed since it was made, or has a row of another form; there is no row.
    """
    rows = [row for path in sets for row in _read_set(path, forms, split)]
    if not rows and split is Split.TRAIN:
        raise InvalidInput(
            f"there are no rows for training in {', '.join(map(str, sets)) or 'no set at all'}; make a set of "
            f"{' or '.join(forms)} with `rubrica data make`, and name its folder under [data] sets"
        )
    return rows


def require_tags(sets: Sequence[Path]) -> None:
    """Require that the answers of these sets are in tags, in which policies are trained and served.

    Raises:
        NotFound: a folder holds no finished set.
        InvalidInput: a set is in the other notation, or does not say in which.
    """
    for path in sets:
        notation = SetFolder(path).read_manifest().origin.notation
        if notation is not Notation.TAGS:
            raise InvalidInput(
                f"the answers of {path} are in {notation or 'an unknown notation'}, and policies are trained, sampled "
                "and served in tags: record its runs again with RUBRICA_LLM_CODEC=tags, and make the set of them"
            )


def digest_sets(sets: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of each set's rows, by the set's name and the split."""
    files = [(f"{name}/{split}", path / split / ROWS) for path, name in name_apart(sets).items() for split in Split]
    return {name: digest_files([file])[ROWS] for name, file in files if file.exists()}


def _read_set(path: Path, forms: Mapping[str, type[R]], split: Split) -> Iterator[R]:
    manifest = SetFolder(path).read_manifest()
    if manifest.origin.kind not in forms:
        raise InvalidInput(f"{path} is a set of {manifest.origin.kind}; this recipe learns from {' or '.join(forms)}")
    name = f"{split}/{ROWS}"
    file = path / name
    if not file.exists() or digest_files([file])[ROWS] != manifest.files.get(name):
        raise InvalidInput(f"{file} is not as it was made; run the `rubrica data make` command of this set again")
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        yield _read_row(line, forms[manifest.origin.kind], f"{file}, line {number}")


def _read_row(line: bytes, form: type[R], where: str) -> R:
    try:
        return form.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise InvalidInput(f"{where} is no row of this kind ({fault}); make the set again with this version") from error
