"""The message about what changed: plain text, and the same as HTML. Words of sources are shown as text in both."""

from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from html import escape
from typing import NamedTuple

from app.domain.changes import Changes, FallenClaim, NewClaim, PassageChange, Shown
from app.domain.schedules import Firing, Outcome

# An address that is folded is none any more: lines may have what RFC 5322 allows. Any server takes seven bits.
UNFOLDED = SMTP.clone(max_line_length=998, cte_type="7bit")
MOST_SHOWN = 8
LONGEST = 400
HEADS = {
    Outcome.FIRST: "The first report is ready.",
    Outcome.CHANGED: "Something has changed since the last report.",
    Outcome.FAILED: "The question could not be asked this time.",
}
WHY = {"opposed": "new evidence opposes it", "changed": "its source says something else now", "gone": "its source is gone"}


class Letter(NamedTuple):
    """What a message is about, and where its reader can go."""

    schedule: str
    question: str
    firing: Firing
    report: str
    unsubscribe: str


class Line(NamedTuple):
    """One line of a message; `level` 0 is a heading, 1 a statement, 2 words of a source."""

    level: int
    text: str


def message(letter: Letter, sender: str, recipient: str, identity: str) -> EmailMessage:
    """The message. `identity` is the same whenever it is sent, so that a mail program shows a repeated one once.

    Headers are made by the standard library, which refuses line breaks in them.
    """
    mail = EmailMessage(policy=UNFOLDED)
    mail["From"] = sender
    mail["To"] = recipient
    mail["Subject"] = one_line(f"{letter.schedule}: {HEADS[letter.firing.outcome]}", 150)
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{identity}@{sender.rpartition('@')[2].strip('> ')}>"
    mail["List-Unsubscribe"] = f"<{letter.unsubscribe}>"
    mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail["Auto-Submitted"] = "auto-generated"
    lines = list(_lines(letter))
    mail.set_content(_as_text(lines, letter))
    mail.add_alternative(_as_html(lines, letter), subtype="html")
    return mail


def one_line(text: str, longest: int = LONGEST) -> str:
    """Text without line breaks or control characters, cut."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _lines(letter: Letter) -> Iterator[Line]:
    yield Line(1, HEADS[letter.firing.outcome])
    if letter.firing.detail:
        yield Line(1, one_line(letter.firing.detail))
    yield from _changed(letter.firing.changes)


def _changed(changes: Changes) -> Iterator[Line]:
    yield from _part("No longer holds", [_fallen(claim) for claim in changes.fallen])
    yield from _part("New", [_new(claim) for claim in changes.new_claims])
    yield from _part("Passages that changed", [_passage(passage) for passage in changes.passages])
    yield from _part("New sources", [[Line(1, _source(source))] for source in changes.new_sources])
    yield from _part("Sources that are gone", [[Line(1, _source(source))] for source in changes.vanished_sources])


def _part(heading: str, items: list[list[Line]]) -> Iterator[Line]:
    if items:
        yield Line(0, f"{heading} ({len(items)})")
        yield from (line for item in items[:MOST_SHOWN] for line in item)
        if len(items) > MOST_SHOWN:
            yield Line(1, f"… and {len(items) - MOST_SHOWN} more")


def _fallen(claim: FallenClaim) -> list[Line]:
    told = [Line(1, f"{one_line(claim.claim)} ({WHY[claim.why]})")]
    told += [Line(2, f"then: {_quoted(quote)}") for quote in claim.before[:2]]
    return told + [Line(2, f"now: {_quoted(quote)}") for quote in claim.after[:2]]


def _new(claim: NewClaim) -> list[Line]:
    return [Line(1, one_line(claim.claim)), *(Line(2, _quoted(quote)) for quote in claim.quotes[:2])]


def _passage(change: PassageChange) -> list[Line]:
    now = _quoted(change.after) if change.after else "nothing like it"
    return [Line(1, _source(change.before)), Line(2, f"then: {_quoted(change.before)}"), Line(2, f"now: {now}")]


def _source(shown: Shown) -> str:
    return one_line(shown.title or shown.url, 150)


def _quoted(shown: Shown) -> str:
    return f"“{one_line(shown.text)}” ({_source(shown)})"


def _as_text(lines: list[Line], letter: Letter) -> str:
    shown = {0: "\n{}\n", 1: "- {}", 2: "    {}"}
    body = "\n".join(shown[level].replace("{}", text) for level, text in lines)
    return f"{one_line(letter.question)}\n\n{body}\n\n{letter.report}\n\nNo more of these: {letter.unsubscribe}\n"


def _as_html(lines: list[Line], letter: Letter) -> str:
    shown = {0: "<h3>{}</h3>", 1: "<p>{}</p>", 2: '<blockquote style="color:#555">{}</blockquote>'}
    body = "".join(shown[level].replace("{}", escape(text)) for level, text in lines)
    link = f'<p><a href="{escape(letter.report)}">Read the report</a></p>'
    end = f'<p><small><a href="{escape(letter.unsubscribe)}">No more of these</a></small></p>'
    return f"<!doctype html><html><body><p><b>{escape(one_line(letter.question))}</b></p>{body}{link}{end}</body></html>"
