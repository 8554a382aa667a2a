"""A reader of e-mails (.eml): who wrote to whom, when and about what, then the text. Attachments are not read."""

from datetime import date
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime

from app.domain.blocks import BlockKind
from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.html import visible_text_of
from retrieval.corpora.marks import mark
from retrieval.corpora.plain import decode_text

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(content: bytes) -> Extract:
    """Read an e-mail: its headers, then its plain text, else the text of its HTML; `note` says how many attachments it has."""
    mail = BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(content)
    headers = [f"{name}: {said}" for name in _HEADERS if (said := _header_of(mail, name))]
    if not headers:
        raise SourceUnreadable("is not an e-mail: it has no headers")
    attached = sum(1 for _ in mail.iter_attachments())
    return Extract(
        text="\n\n".join((mark(BlockKind.FIELD, "\n".join(headers)), _body_of(mail))).strip(),
        title=_header_of(mail, "Subject"),
        author=_header_of(mail, "From"),
        published=_day_of(_header_of(mail, "Date")),
        note=f"{attached} attachments were not read" if attached else "",
    ).read_marks()


def _header_of(mail: EmailMessage, name: str) -> str:
    return " ".join(str(mail.get(name, "")).split())


def _body_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain", "html"))
    content = part.get_payload(decode=True) if part is not None else None
    if part is None or not isinstance(content, bytes):
        return ""
    try:
        text = content.decode(part.get_content_charset("utf-8"))
    except (LookupError, UnicodeDecodeError):  # it names no encoding, or a wrong one
        text = decode_text(content)
    text = text.replace("\r\n", "\n")
    return visible_text_of(text) if part.get_content_subtype() == "html" else text


def _day_of(stated: str) -> date | None:
    try:
        return parsedate_to_datetime(stated).date()
    except ValueError:
        return None
