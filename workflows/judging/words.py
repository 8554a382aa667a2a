"""What judges say to the reader, in the language of the run."""

from collections.abc import Mapping

from app.domain.query import Language

EN, ZH = Language.ENGLISH, Language.CHINESE

SAID: Mapping[str, Mapping[Language, str]] = {
    "points_elsewhere": {
        EN: "The cited passage seems to say the opposite.",
        ZH: "所引段落的意思似乎与此相反。",
    },
    "number_missing": {EN: "The cited passage does not give {numbers}.", ZH: "所引段落中没有 {numbers}。"},
    "says_part": {EN: "The cited passage covers only part of this.", ZH: "所引段落只涵盖其中一部分。"},
    "says_little": {EN: "The cited passage says little or nothing of this.", ZH: "所引段落几乎没有提到这一点。"},
    "repaired": {EN: "Evidence of this run that supports it better was added.", ZH: "已补充本次研究中更能支持它的证据。"},
    "softened": {EN: "Reworded to what the cited passage says.", ZH: "已按所引段落的内容改写。"},
    "retracted": {EN: "rests on one source, which was retracted", ZH: "仅依据一个来源，且该来源已被撤稿"},
    "preprint": {EN: "rests on one source, a preprint", ZH: "仅依据一个来源，为预印本"},
    "undated": {EN: "rests on one source, a web page without a date", ZH: "仅依据一个来源，为没有日期的网页"},
    "failing": {
        EN: "{n} statements are marked † or ‡: by a check, the passage they cite does not support (†) or opposes (‡) them.",
        ZH: "有 {n} 处陈述标有 † 或 ‡：核查发现所引段落不支持（†）或与之相反（‡）。",
    },
    "failing_one": {
        EN: "One statement is marked † or ‡: by a check, the passage it cites does not support (†) or opposes (‡) it.",
        ZH: "有 1 处陈述标有 † 或 ‡：核查发现所引段落不支持（†）或与之相反（‡）。",
    },
    "weak": {
        EN: "{n} statements rest on one weak source alone (retracted, a preprint, or a web page without a date).",
        ZH: "有 {n} 处陈述仅依据一个较弱的来源（已撤稿、预印本，或没有日期的网页）。",
    },
}


def say(what: str, language: Language, /, **values: object) -> str:
    """One of these sentences with its values put in."""
    text = SAID[what][language]
    return text.format(**values) if values else text
