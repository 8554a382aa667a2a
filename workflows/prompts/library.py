"""Prompts as versioned files: `<name>/v1.md` and `<name>/v1.zh.md`, each a system part and a user part.

Placeholders are written `{{name}}` and are strict: rendering needs exactly the values that the file names. Values are inserted by
joining, never by substitution, so a value that looks like a placeholder stays unchanged.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.domain.chat import ChatRole, Message
from app.domain.errors import RubricaError
from app.domain.query import Language

PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_LABEL = re.compile(r"\s*|[^.!?。！？]*[:：]\s*")
USER_PART = "=== user ==="
RELEASED = "v1"
RELEASED_LATER: Mapping[str, str] = {
    "intent": "v2",
    "outline": "v4",
    "section": "v6",
    "consistency": "v4",
    "critique": "v2",
    "single_pass": "v3",
    "support": "v3",
}
"""The released version of prompts where it is not the first."""
SHORT: Mapping[str, str] = {
    "intent": "v3",
    "plan": "v2",
    "search": "v2",
    "finding": "v2",
    "outline": "v3",
    "section": "v7",
    "consistency": "v3",
}
"""The short versions, for models with a small context."""
HERE = Path(__file__).parent


class PromptError(RubricaError):
    """A prompt file is missing or malformed, or was rendered with too few or too many values."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """Text cut at its placeholders: literal, name, literal, name, ..., literal."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "PromptTemplate":
        """Cut `text` at its placeholders."""
        return cls(tuple(PLACEHOLDER.split(text)))

    @property
    def names(self) -> frozenset[str]:
        """The names of the placeholders."""
        return frozenset(self.pieces[1::2])

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with its placeholders replaced. A line with nothing to say is left out, and its label with it."""
        if all(values[name] for name in self.names):
            return self._join(values)
        source = "".join(f"{{{{{piece}}}}}" if place % 2 else piece for place, piece in enumerate(self.pieces))
        kept = (_drop_empty_lines(paragraph, values) for paragraph in source.split("\n\n"))
        return PromptTemplate.of("\n\n".join(filter(None, kept)))._join(values)

    def _join(self, values: Mapping[str, str]) -> str:
        return "".join(values[piece] if place % 2 else piece for place, piece in enumerate(self.pieces))


def _drop_empty_lines(paragraph: str, values: Mapping[str, str]) -> str:
    """Return a paragraph without the lines that are only a label and empty values, and without a label that is left alone."""
    lines = paragraph.split("\n")
    kept = [line for line in lines if not _is_empty(line, values)]
    return "" if len(kept) < len(lines) and all(_LABEL.fullmatch(line) for line in kept) else "\n".join(kept)


def _is_empty(line: str, values: Mapping[str, str]) -> bool:
    literal, *rest = PLACEHOLDER.split(line)
    return (
        bool(rest) and not any(map(values.get, rest[::2])) and bool(_LABEL.fullmatch(literal)) and not "".join(rest[1::2]).strip()
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of one prompt in one language. `digest` is the SHA-256 (hex) of its file."""

    name: str
    version: str
    language: Language
    digest: str
    system: PromptTemplate
    user: PromptTemplate
    names: frozenset[str]

    def render(self, **values: str) -> tuple[Message, ...]:
        """Return a system message (if the file has one) and a user message.

        Raises:
            PromptError: a placeholder got no value, or a value has no placeholder.
        """
        _require_names(self.name, self.names, values)
        system = self.system.fill(values)
        user = Message(role=ChatRole.USER, content=self.user.fill(values))
        return (Message(role=ChatRole.SYSTEM, content=system), user) if system else (user,)

    def render_text(self, **values: str) -> str:
        """Return the user part alone, for pieces that go into other prompts. Raises as `render` does."""
        _require_names(self.name, self.names, values)
        return self.user.fill(values)


def _require_names(prompt: str, names: frozenset[str], values: Mapping[str, str]) -> None:
    if values.keys() != names:
        missing, unknown = names - values.keys(), values.keys() - names
        raise PromptError(f"prompt {prompt!r}: missing {sorted(missing)}, unknown {sorted(unknown)}")


class PromptLibrary:
    """All prompts of a folder, read once."""

    def __init__(self, prompts: Mapping[tuple[str, str, Language], Prompt], versions: Mapping[str, str] | None = None) -> None:
        self._prompts = dict(prompts)
        self._versions = dict(versions or {})

    @classmethod
    def load(cls, folder: Path = HERE) -> "PromptLibrary":
        """Read every prompt.

        Raises:
            PromptError: a file is malformed, or a language is missing.
        """
        found = [_read_prompt(path) for path in sorted(folder.glob("*/v*.md"))]
        prompts = {(p.name, p.version, p.language): p for p in found}
        for prompt in found:
            _check_twin(prompt, prompts)
        return cls(prompts)

    def choose_versions(self, versions: Mapping[str, str]) -> "PromptLibrary":
        """Return the same prompts with the versions chosen in `versions` (name to version).

        Raises:
            PromptError: there is no such prompt or version.
        """
        chosen = PromptLibrary(self._prompts, self._versions | dict(versions))
        for name in versions:
            chosen.get(name, Language.ENGLISH)
        return chosen

    def is_chosen(self, name: str) -> bool:
        """Say whether the version of this prompt was chosen."""
        return name in self._versions

    def get(self, name: str, language: Language, version: str = "") -> Prompt:
        """Return one prompt; without a `version`, in the chosen or the released one.

        Raises:
            PromptError: there is no such prompt.
        """
        version = version or self._version_of(name)
        prompt = self._prompts.get((name, version, language))
        if prompt is None:
            raise PromptError(f"there is no prompt {name!r} {version} in {language.value!r}")
        return prompt

    def _version_of(self, name: str) -> str:
        """Return the chosen version of a prompt, else the released one."""
        return self._versions.get(name, RELEASED_LATER.get(name, RELEASED))

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """Our own text of all prompts, in the pieces between placeholders."""
        parts = (part for prompt in self._prompts.values() for part in (prompt.system, prompt.user))
        return tuple(piece for part in parts for piece in part.pieces[::2])

    def list_used(self, language: Language) -> dict[str, str]:
        """Return the digests of the prompts that `get` returns in this language without a `version`; keys as in `digests`."""
        names = sorted({name for name, _, spoken in self._prompts if spoken is language})
        prompts = (self.get(name, language) for name in names if (name, self._version_of(name), language) in self._prompts)
        return {f"{p.name}/{p.version}/{p.language.value}": p.digest for p in prompts}

    @property
    def digests(self) -> dict[str, str]:
        """The digests by `name/version/language`, for a run's manifest."""
        return {f"{p.name}/{p.version}/{p.language.value}": p.digest for p in self._prompts.values()}


def _read_prompt(path: Path) -> Prompt:
    text = path.read_text(encoding="utf-8")
    system, cut, user = text.partition(USER_PART)
    if not cut:
        raise PromptError(f"{path} has no line {USER_PART!r}")
    version, _, language = path.stem.partition(".")
    parts = PromptTemplate.of(system.strip()), PromptTemplate.of(user.strip())
    return Prompt(
        name=path.parent.name,
        version=version,
        language=Language(language or "en"),
        digest=hashlib.sha256(text.encode()).hexdigest(),
        system=parts[0],
        user=parts[1],
        names=parts[0].names | parts[1].names,
    )


def _check_twin(prompt: Prompt, prompts: Mapping[tuple[str, str, Language], Prompt]) -> None:
    for language in Language:
        twin = prompts.get((prompt.name, prompt.version, language))
        if twin is None or twin.names != prompt.names:
            raise PromptError(
                f"prompt {prompt.name!r} {prompt.version} needs a {language.value!r} file with the same placeholders"
            )
