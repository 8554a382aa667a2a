"""The message about what changed, as plain text and as HTML. Words of sources are shown as text in both."""

from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from html import escape
from typing import NamedTuple

from app.domain.changes import Changes, FallenClaim, NewClaim, PassageChange, Shown
from app.domain.query import Language
from app.domain.schedules import Firing
from app.reports.rendering.links import file_name
from workflows.durable.mail_words import Words, words_in

# A folded web address is broken, so lines may be as long as RFC 5322 allows. Every server accepts seven bits.
UNFOLDED = SMTP.clone(max_line_length=998, cte_type="7bit")
MOST_SHOWN = 8
LONGEST = 400


class Letter(NamedTuple):
    """The content of a message: the schedule, what changed, the language, and the links for its reader."""

    schedule: str
    question: str
    firing: Firing
    report: str
    unsubscribe: str
    language: Language = Language.ENGLISH


class Line(NamedTuple):
    """One line of a message; `level` 0 is a heading, 1 a statement, 2 words of a source."""

    level: int
    text: str


def message(letter: Letter, sender: str, recipient: str, identity: str) -> EmailMessage:
    """Make the message. `identity` is the same each time it is sent, so that a mail program shows repetitions once.

    The standard library writes the headers and refuses line breaks in them.
    """
    mail = EmailMessage(policy=UNFOLDED)
    mail["From"] = sender
    mail["To"] = recipient
    words = words_in(letter.language)
    mail["Subject"] = one_line(words.subject.format(schedule=letter.schedule, head=words.heads[letter.firing.outcome]), 150)
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
    """Return text without line breaks or control characters, cut to a length."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _lines(letter: Letter) -> Iterator[Line]:
    words = words_in(letter.language)
    yield Line(1, words.heads[letter.firing.outcome])
    if letter.firing.detail:
        yield Line(1, one_line(letter.firing.detail))
    yield from _changed(letter.firing.changes, words)


def _changed(changes: Changes, words: Words) -> Iterator[Line]:
    parts = (
        (words.fallen, [_fallen(claim, words) for claim in changes.fallen]),
        (words.new, [_new(claim, words) for claim in changes.new_claims]),
        (words.passages, [_passage(passage, words) for passage in changes.passages]),
        (words.new_sources, [[Line(1, _source(source))] for source in changes.new_sources]),
        (words.gone_sources, [[Line(1, _source(source))] for source in changes.vanished_sources]),
    )
    for heading, items in parts:
        yield from _part(heading, items, words)


def _part(heading: str, items: list[list[Line]], words: Words) -> Iterator[Line]:
    if items:
        yield Line(0, words.part.format(heading=heading, count=len(items)))
        yield from (line for item in items[:MOST_SHOWN] for line in item)
        if len(items) > MOST_SHOWN:
            yield Line(1, words.more.format(count=len(items) - MOST_SHOWN))


def _fallen(claim: FallenClaim, words: Words) -> list[Line]:
    told = [Line(1, words.because.format(claim=one_line(claim.claim), why=words.why[claim.why]))]
    told += [Line(2, words.then.format(quote=_quoted(quote, words))) for quote in claim.before[:2]]
    return told + [Line(2, words.now.format(quote=_quoted(quote, words))) for quote in claim.after[:2]]


def _new(claim: NewClaim, words: Words) -> list[Line]:
    return [Line(1, one_line(claim.claim)), *(Line(2, _quoted(quote, words)) for quote in claim.quotes[:2])]


def _passage(change: PassageChange, words: Words) -> list[Line]:
    now = _quoted(change.after, words) if change.after else words.nothing
    before = words.then.format(quote=_quoted(change.before, words))
    return [Line(1, _source(change.before)), Line(2, before), Line(2, words.now.format(quote=now))]


def _source(shown: Shown) -> str:
    """Return a source's title, or else its file name or its address."""
    return one_line(shown.title or file_name(shown.url) or shown.url, 150)


def _quoted(shown: Shown, words: Words) -> str:
    return words.quoted.format(words=one_line(shown.text), source=_source(shown))


def _as_text(lines: list[Line], letter: Letter) -> str:
    shown = {0: "\n{}\n", 1: "- {}", 2: "    {}"}
    body = "\n".join(shown[level].replace("{}", text) for level, text in lines)
    stop = words_in(letter.language).stop_at.format(address=letter.unsubscribe)
    return f"{one_line(letter.question)}\n\n{body}\n\n{letter.report}\n\n{stop}\n"


def _as_html(lines: list[Line], letter: Letter) -> str:
    words = words_in(letter.language)
    shown = {0: "<h3>{}</h3>", 1: "<p>{}</p>", 2: '<blockquote style="color:#555">{}</blockquote>'}
    body = "".join(shown[level].replace("{}", escape(text)) for level, text in lines)
    link = f'<p><a href="{escape(letter.report)}">{words.read}</a></p>'
    end = f'<p><small><a href="{escape(letter.unsubscribe)}">{words.stop}</a></small></p>'
    asked = escape(one_line(letter.question))
    return f'<!doctype html><html lang="{letter.language.value}"><body><p><b>{asked}</b></p>{body}{link}{end}</body></html>'
