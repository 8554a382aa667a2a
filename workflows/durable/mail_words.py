"""The fixed wording of messages about changes, in the language of the question.

A member's own language is unknown here: the page keeps it in the browser.
"""

from collections.abc import Mapping
from typing import NamedTuple

from app.domain.changes import FallReason
from app.domain.query import Language
from app.domain.schedules import Outcome


class MailWording(NamedTuple):
    """The wordings of one language."""

    heads: Mapping[Outcome, str]
    why: Mapping[FallReason, str]
    fallen: str
    new: str
    passages: str
    new_sources: str
    gone_sources: str
    part: str
    more: str
    because: str
    then: str
    now: str
    nothing: str
    quoted: str
    subject: str
    read: str
    stop: str
    stop_at: str


_ENGLISH = MailWording(
    heads={
        Outcome.FIRST: "The first report is ready.",
        Outcome.CHANGED: "Something has changed since the last report.",
        Outcome.FAILED: "The question could not be asked this time.",
    },
    why={
        FallReason.OPPOSED: "new evidence opposes it",
        FallReason.CHANGED: "its source says something else now",
        FallReason.GONE: "its source is gone",
    },
    fallen="No longer holds",
    new="New",
    passages="Passages that changed",
    new_sources="New sources",
    gone_sources="Sources that are gone",
    part="{heading} ({count})",
    more="… and {count} more",
    because="{claim} ({why})",
    then="then: {quote}",
    now="now: {quote}",
    nothing="nothing like it",
    quoted="“{words}” ({source})",
    subject="{schedule}: {head}",
    read="Read the report",
    stop="No more of these",
    stop_at="No more of these: {address}",
)
_CHINESE = MailWording(
    heads={
        Outcome.FIRST: "第一份报告已完成。",
        Outcome.CHANGED: "自上次报告以来有变化。",
        Outcome.FAILED: "这一次未能提出该问题。",
    },
    why={FallReason.OPPOSED: "新的证据与之相反", FallReason.CHANGED: "其来源现在说法不同", FallReason.GONE: "其来源已不存在"},
    fallen="不再成立",
    new="新内容",
    passages="有变化的段落",
    new_sources="新来源",
    gone_sources="已不存在的来源",
    part="{heading}（{count}）",
    more="……另有 {count} 条",
    because="{claim}（{why}）",
    then="原文：{quote}",
    now="现在：{quote}",
    nothing="没有类似的内容",
    quoted="“{words}”（{source}）",
    subject="{schedule}：{head}",
    read="阅读报告",
    stop="不再接收此类邮件",
    stop_at="不再接收此类邮件：{address}",
)


def mail_wording_of(language: Language) -> MailWording:
    """Return the wording of a language."""
    return _CHINESE if language is Language.CHINESE else _ENGLISH
