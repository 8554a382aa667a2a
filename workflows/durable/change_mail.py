"""The message about what changed, as plain text and as HTML. Words of sources are shown as text in both."""

from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from html import escape
from typing import NamedTuple

from app.domain.changes import FallenClaim, NewClaim, PassageChange, ReportChanges, ShownWords
from app.domain.query import Language
from app.domain.schedules import Firing
from app.reports.rendering.links import file_path_of
from workflows.durable.mail_words import MailWording, mail_wording_of

# A folded web address is broken, so lines may be as long as RFC 5322 allows. Every server accepts seven bits.
UNFOLDED = SMTP.clone(max_line_length=998, cte_type="7bit")
MAX_SHOWN = 8
LONGEST_LINE = 400


class ChangeLetter(NamedTuple):
    """The content of a message: the schedule, what changed, the language, and the links for its reader."""

    schedule: str
    question: str
    firing: Firing
    report: str
    unsubscribe: str
    language: Language = Language.ENGLISH


class MailLine(NamedTuple):
    """One line of a message; `level` 0 is a heading, 1 a statement, 2 words of a source."""

    level: int
    text: str


def make_message(letter: ChangeLetter, sender: str, recipient: str, identity: str) -> EmailMessage:
    """Make the message. `identity` is the same each time it is sent, so that a mail program shows repetitions once.

    The standard library writes the headers and refuses line breaks in them.
    """
    mail = EmailMessage(policy=UNFOLDED)
    mail["From"] = sender
    mail["To"] = recipient
    words = mail_wording_of(letter.language)
    mail["Subject"] = put_on_one_line(
        words.subject.format(schedule=letter.schedule, head=words.heads[letter.firing.outcome]), 150
    )
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{identity}@{sender.rpartition('@')[2].strip('> ')}>"
    mail["List-Unsubscribe"] = f"<{letter.unsubscribe}>"
    mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail["Auto-Submitted"] = "auto-generated"
    lines = list(_list_lines(letter))
    mail.set_content(_as_text(lines, letter))
    mail.add_alternative(_as_html(lines, letter), subtype="html")
    return mail


def put_on_one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return text without line breaks or control characters, cut to a length."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _list_lines(letter: ChangeLetter) -> Iterator[MailLine]:
    words = mail_wording_of(letter.language)
    yield MailLine(1, words.heads[letter.firing.outcome])
    if letter.firing.detail:
        yield MailLine(1, put_on_one_line(letter.firing.detail))
    yield from _list_changes(letter.firing.changes, words)


def _list_changes(changes: ReportChanges, words: MailWording) -> Iterator[MailLine]:
    parts = (
        (words.fallen, [_format_fallen(claim, words) for claim in changes.fallen]),
        (words.new, [_format_new(claim, words) for claim in changes.new_claims]),
        (words.passages, [_format_passage(passage, words) for passage in changes.passages]),
        (words.new_sources, [[MailLine(1, _name_source(source))] for source in changes.new_sources]),
        (words.gone_sources, [[MailLine(1, _name_source(source))] for source in changes.vanished_sources]),
    )
    for heading, items in parts:
        yield from _list_part(heading, items, words)


def _list_part(heading: str, items: list[list[MailLine]], words: MailWording) -> Iterator[MailLine]:
    if items:
        yield MailLine(0, words.part.format(heading=heading, count=len(items)))
        yield from (line for item in items[:MAX_SHOWN] for line in item)
        if len(items) > MAX_SHOWN:
            yield MailLine(1, words.more.format(count=len(items) - MAX_SHOWN))


def _format_fallen(claim: FallenClaim, words: MailWording) -> list[MailLine]:
    told = [MailLine(1, words.because.format(claim=put_on_one_line(claim.claim), why=words.why[claim.why]))]
    told += [MailLine(2, words.then.format(quote=_format_quote(quote, words))) for quote in claim.before[:2]]
    return told + [MailLine(2, words.now.format(quote=_format_quote(quote, words))) for quote in claim.after[:2]]


def _format_new(claim: NewClaim, words: MailWording) -> list[MailLine]:
    return [MailLine(1, put_on_one_line(claim.claim)), *(MailLine(2, _format_quote(quote, words)) for quote in claim.quotes[:2])]


def _format_passage(change: PassageChange, words: MailWording) -> list[MailLine]:
    now = _format_quote(change.after, words) if change.after else words.nothing
    before = words.then.format(quote=_format_quote(change.before, words))
    return [MailLine(1, _name_source(change.before)), MailLine(2, before), MailLine(2, words.now.format(quote=now))]


def _name_source(shown: ShownWords) -> str:
    """Return a source's title, or else its file name or its address."""
    return put_on_one_line(shown.title or file_path_of(shown.url) or shown.url, 150)


def _format_quote(shown: ShownWords, words: MailWording) -> str:
    return words.quoted.format(words=put_on_one_line(shown.text), source=_name_source(shown))


def _as_text(lines: list[MailLine], letter: ChangeLetter) -> str:
    shown = {0: "\n{}\n", 1: "- {}", 2: "    {}"}
    body = "\n".join(shown[level].replace("{}", text) for level, text in lines)
    stop = mail_wording_of(letter.language).stop_at.format(address=letter.unsubscribe)
    return f"{put_on_one_line(letter.question)}\n\n{body}\n\n{letter.report}\n\n{stop}\n"


def _as_html(lines: list[MailLine], letter: ChangeLetter) -> str:
    words = mail_wording_of(letter.language)
    shown = {0: "<h3>{}</h3>", 1: "<p>{}</p>", 2: '<blockquote style="color:#555">{}</blockquote>'}
    body = "".join(shown[level].replace("{}", escape(text)) for level, text in lines)
    link = f'<p><a href="{escape(letter.report)}">{words.read}</a></p>'
    end = f'<p><small><a href="{escape(letter.unsubscribe)}">{words.stop}</a></small></p>'
    asked = escape(put_on_one_line(letter.question))
    return f'<!doctype html><html lang="{letter.language.value}"><body><p><b>{asked}</b></p>{body}{link}{end}</body></html>'
