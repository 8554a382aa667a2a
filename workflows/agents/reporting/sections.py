"""Step three, the sections: each has a writer (agent path `report/section/<n>`) and evidence of its own; all run in parallel."""

import re
from dataclasses import dataclass, replace
from functools import partial

from app.domain.chat import Message
from app.domain.errors import AnswerInvalid, ModelError
from workflows.agents.asking import Asker
from workflows.agents.concurrency import all_of
from workflows.agents.ports import BudgetSpent
from workflows.agents.remembering import REPORTER
from workflows.agents.reporting.aggregation import Filled, noticed
from workflows.agents.reporting.citing import cites, cleaned, without_citations
from workflows.agents.reporting.desk import Desk
from workflows.agents.reporting.headings import parts_of, without_headings
from workflows.agents.reporting.outline import Outline
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

SECTION = TextStep("section", max_tokens=5_000)
MAX_QUOTED = 10
_REFERENCES = re.compile(
    r"^\W*(references|sources|works cited|bibliography|citations|footnotes|参考文献|参考资料|来源|引用)\W*$", re.IGNORECASE
)


def is_list_of_references(heading: str) -> bool:
    """Say whether a heading announces a list of sources. A report has its own list."""
    return _REFERENCES.match(heading) is not None


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading of the report with its text; ids are cited as `[q3]`. `section` is the outline's number, 0 for added ones."""

    section: int
    level: int
    heading: str
    text: str
    allowed: tuple[str, ...] = ()


async def write_sections(desk: Desk, outline: Outline, filled: list[Filled]) -> list[Piece]:
    """Write all sections, in the order of the outline."""
    written = await all_of([_write(desk, outline, section) for section in filled], desk.kit.bounds.sections_at_once)
    return [piece for pieces in written for piece in pieces]


async def _write(desk: Desk, outline: Outline, filled: Filled) -> list[Piece]:
    """Write one section; without the model it quotes its evidence."""
    number = filled.section.number
    agent = f"{REPORTER}/section/{number}"
    try:
        text = await Asker(desk.kit, agent).write(SECTION, _messages(desk, outline, filled), partial(_check, desk, filled))
    except BudgetSpent:
        desk.budget_spent = True
        text = quoted(desk, filled)
    except ModelError as error:
        await desk.fail(agent, filled.section.heading, str(error))
        text = quoted(desk, filled)
    return pieces_of(desk, filled, text)


def _check(desk: Desk, filled: Filled, text: str) -> None:
    """Check that a section cites its evidence.

    Raises:
        AnswerInvalid: the text cites no quote that its writer was shown.
    """
    if not cites(cleaned(text, filled.ids).text):
        raise AnswerInvalid(say("cites_nothing", desk.kit.language, id=filled.ids[0]))


def _messages(desk: Desk, outline: Outline, filled: Filled) -> tuple[Message, ...]:
    kit, section = desk.kit, filled.section
    none = say("none", kit.language)
    return desk.render(
        "section",
        title=outline.title,
        outline=outline.text(),
        section=section.text(),
        heading=section.heading,
        points="\n".join(f"- {as_data(p.text)} ({', '.join(p.ids)})" for p in filled.points) or none,
        conflicts=noticed([(c.about, c.ids) for c in filled.conflicts]) or none,
        evidence=desk.book.shown(filled.ids, kit.bounds.evidence_chars // 2) or none,
        words=str(kit.bounds.section_words),
        form=kit.codec.form(SECTION, kit.prompts, kit.language),
    )


def pieces_of(desk: Desk, filled: Filled, text: str) -> list[Piece]:
    """Cut a written section at its headings, without the writer's own title and list of references."""
    section, allowed = filled.section, filled.ids
    pieces = [Piece(section.number, 2, section.heading, "", allowed)]
    for part in parts_of(text):
        if not part.heading or _same(part.heading, section.heading):
            pieces[-1] = replace(pieces[-1], text=f"{pieces[-1].text}\n\n{part.text}".strip())
        elif not is_list_of_references(part.heading):
            pieces.append(Piece(section.number, min(4, max(3, part.level)), part.heading, part.text, allowed))
    return [_clean(desk, piece) for piece in pieces if piece.text or piece.level == 2]


def _clean(desk: Desk, piece: Piece) -> Piece:
    body, heading = cleaned(piece.text, piece.allowed), cleaned(piece.heading, ())
    desk.removed_citations += body.removed
    return replace(piece, text=without_headings(body.text), heading=heading.text or say("untitled", desk.kit.language))


def _same(heading: str, other: str) -> bool:
    return _letters(heading) == _letters(other) or _letters(heading).endswith(_letters(other))


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def quoted(desk: Desk, filled: Filled) -> str:
    """Return a section that needs no model: its quotes in the words of their sources."""
    lines = [_excerpt(desk, short) for short in filled.ids[:MAX_QUOTED]]
    return "\n\n".join(lines)


def _excerpt(desk: Desk, short: str) -> str:
    quote = desk.book[short]
    words = without_citations(" ".join(quote.text.split()))
    return say("excerpt", desk.kit.language, title=quote.source.title, quote=words, mark=f"[{short}]")
