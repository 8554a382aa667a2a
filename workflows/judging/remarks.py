"""The judges' sentences to the reader, in the language of the run."""

from collections.abc import Mapping

from app.domain.query import Language
from workflows.agents.wording import fill_wording

EN, ZH = Language.ENGLISH, Language.CHINESE

REMARKS: Mapping[str, Mapping[Language, str]] = {
    "points_elsewhere": {
        EN: "The cited passage seems to say the opposite.",
        ZH: "所引段落的意思似乎与此相反。",
    },
    "number_missing": {EN: "The cited passage does not give {words}.", ZH: "所引段落中没有“{words}”。"},
    "number_elsewhere": {
        EN: "The cited passage gives “{words}” for something else.",
        ZH: "所引段落中的“{words}”说的是另一件事。",
    },
    "bound_differs": {
        EN: "The cited passage limits “{words}” in another way (at least, at most, about).",
        ZH: "所引段落对“{words}”的限定不同（至少、至多、大约）。",
    },
    "name_missing": {EN: "The cited passage does not name {words}.", ZH: "所引段落没有提到“{words}”。"},
    "opposite_word": {
        EN: "This says “{words}”, where the cited passage says “{given}”.",
        ZH: "此处说“{words}”，所引段落说的是“{given}”。",
    },
    "negation_differs": {
        EN: "This and the cited passage differ in a negation (“{words}”).",
        ZH: "此处与所引段落在否定上不一致（“{words}”）。",
    },
    "quantity_differs": {
        EN: "The cited passage speaks of another share or number of them (“{words}”).",
        ZH: "所引段落所说的范围或多少与此不同（“{words}”）。",
    },
    "hedge_dropped": {
        EN: "The cited passage says it with reserve (“{words}”).",
        ZH: "所引段落的说法有所保留（“{words}”）。",
    },
    "certainty_added": {
        EN: "The cited passage is less certain than “{words}”.",
        ZH: "所引段落不像“{words}”那样肯定。",
    },
    "only_added": {EN: "The cited passage does not say “{words}”.", ZH: "所引段落没有说“{words}”。"},
    "not_said": {EN: "The cited passage has next to none of these words.", ZH: "所引段落几乎没有这里的用词。"},
    "worded_anew": {
        EN: "Not judged: this is worded otherwise than the cited passage.",
        ZH: "未评判：此处的措辞与所引段落不同。",
    },
    "nothing_cited": {EN: "No citation stands behind this.", ZH: "这一句没有注明来源。"},
    "citation_removed": {
        EN: "Its citation named no stored source and was removed.",
        ZH: "其引用没有对应的已存来源，已被删除。",
    },
    "unsourced": {
        EN: "{n} statements are marked ¶: no citation gives their fact, or one of their numbers.",
        ZH: "有 {n} 处陈述标有 ¶：其事实或其中的数字没有引用可以证明。",
    },
    "unsourced_one": {
        EN: "One statement is marked ¶: no citation gives its fact, or one of its numbers.",
        ZH: "有 1 处陈述标有 ¶：其事实或其中的数字没有引用可以证明。",
    },
    "unjudged": {
        EN: "{n} statements were checked by their words alone: the judge that is set up gave no verdict on them.",
        ZH: "有 {n} 处陈述仅按用词核查：所设的评判者没有对其作出判定。",
    },
    "unjudged_one": {
        EN: "One statement was checked by its words alone: the judge that is set up gave no verdict on it.",
        ZH: "有 1 处陈述仅按用词核查：所设的评判者没有对其作出判定。",
    },
    "other_language": {
        EN: "The cited passage is in another language; their words cannot be compared.",
        ZH: "所引段落用的是另一种语言，无法比对用词。",
    },
    "untranslated": {
        EN: "{n} statements were not checked: the passages they cite are in another language.",
        ZH: "有 {n} 处陈述未经核查：所引段落用的是另一种语言。",
    },
    "untranslated_one": {
        EN: "One statement was not checked: the passage it cites is in another language.",
        ZH: "有 1 处陈述未经核查：所引段落用的是另一种语言。",
    },
    "says_part": {EN: "The cited passage covers only part of this.", ZH: "所引段落只涵盖其中一部分。"},
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
    "needs_a_model": {
        EN: "Not judged: this takes a language model, and none could be asked.",
        ZH: "未评判：这需要语言模型，而当时无法调用。",
    },
    "nothing_to_judge": {EN: "Not judged: the report has nothing to count.", ZH: "未评判：报告中没有可以统计的内容。"},
    "judge_budget": {EN: "Not judged: the budget was reached.", ZH: "未评判：预算已用尽。"},
    "judge_failed": {EN: "Not judged: the model's call failed ({detail}).", ZH: "未评判：模型调用失败（{detail}）。"},
    "no_rating": {EN: "Not judged: the model gave no rating from 1 to 10.", ZH: "未评判：模型没有给出 1 到 10 的评分。"},
    "counted_cites": {EN: "{n} of {of} statements cite a source.", ZH: "{of} 条陈述中有 {n} 条注明来源。"},
    "counted_aspect": {
        EN: "{n} statements with a source have its words; {of} are asked for.",
        ZH: "有 {n} 条注明来源的陈述含有其用词；要求 {of} 条。",
    },
    "counted_support": {
        EN: "By a check, {n} of {of} cited statements are supported in full.",
        ZH: "经核查，{of} 条注明来源的陈述中有 {n} 条得到充分支持。",
    },
    "counted_sources": {
        EN: "{n} different sources are cited; {of} are asked for.",
        ZH: "引用了 {n} 个不同的来源；要求 {of} 个。",
    },
    "counted_period": {
        EN: "{n} of {of} cited passages with a date are of this period.",
        ZH: "{of} 个有日期的所引段落中有 {n} 个属于这一时期。",
    },
    "counted_opposed": {
        EN: "By a check, {n} of {of} statements are opposed by what they cite.",
        ZH: "经核查，{of} 条陈述中有 {n} 条与所引内容相悖。",
    },
    "rubric_failed": {
        EN: "The language model wrote no usable rubric ({detail}).",
        ZH: "语言模型没有写出可用的评分标准（{detail}）。",
    },
    "rubric_filled": {
        EN: "{n} general criteria were added to those of the language model.",
        ZH: "在语言模型所写的标准之外补充了 {n} 条一般标准。",
    },
    "weak": {
        EN: "{n} statements rest on one weak source alone (retracted, a preprint, or a web page without a date).",
        ZH: "有 {n} 处陈述仅依据一个较弱的来源（已撤稿、预印本，或没有日期的网页）。",
    },
}


def word_remark(what: str, language: Language, /, **values: object) -> str:
    """Return one of these sentences with its values filled in."""
    return fill_wording(REMARKS, what, language, values)
