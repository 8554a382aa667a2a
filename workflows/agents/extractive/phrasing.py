"""The few words of its own that an extractive report has, in English and Chinese: only what sources' metadata can vouch for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.query import Language
from workflows.agents.extractive.kinds import QuestionKind


@dataclass(frozen=True, slots=True)
class Phrases:
    """Templates, filled with metadata and counts."""

    about: str
    about_years: str
    said_about: str
    argued: Mapping[QuestionKind, str]
    direct: str
    by_kind: Mapping[QuestionKind, str]
    purpose: str
    expected_evidence: str
    intent: Mapping[QuestionKind, str]
    probe: str
    dated: str
    space: str
    comma: str
    colon: str
    conjunction: str
    none_read: str
    missing: str
    found: str
    none_found: str
    lead: str
    evidence: str
    not_covered: str
    statement: str
    statements: str
    source: str
    sources: str
    overview: str
    overview_year: str
    overview_dated: str
    nearest: str
    no_answer: str
    no_answer_detail: str
    nothing_for: str
    no_model: str
    no_model_but: str
    no_model_first: str
    changed_by_model: str
    changed_by_reader: str
    failed: str
    dropped: str
    cut_short: str
    other_years: str
    reading: str
    read_as: str
    read_as_years: str
    the_rest: str
    negated: str
    said: tuple[str, ...]
    later: str
    later_again: str
    again: tuple[str, ...]
    also: str
    further: str
    undated: str
    titled: str
    titled_dated: str
    year_later: str
    years_later: str
    style_unmet: str
    at_a_glance: str
    columns: tuple[str, str, str]


_ENGLISH = Phrases(
    about="What do the sources say about {what}?",
    about_years="What do the sources from {first} to {last} say about {what}?",
    said_about="What did {who} say about {what}?",
    argued={
        QuestionKind.WHY: "{subject} causes reasons justified because",
        QuestionKind.FOR: "{subject} justified necessary to protect, encourage, benefit",
        QuestionKind.AGAINST: "{subject} objections dangers evils opposed",
    },
    direct="What the sources say directly",
    by_kind={
        QuestionKind.WHY: "Reasons given",
        QuestionKind.FOR: "Reasons given",
        QuestionKind.AGAINST: "Objections raised",
        QuestionKind.VIEWS: "On {subject}",
        QuestionKind.FACT: "Direct statements",
    },
    purpose="Find statements for the part “{title}”.",
    expected_evidence="Sentences that can stand alone, from several sources, with author and date.",
    intent={
        QuestionKind.WHY: "The question asks for reasons concerning {subject}.",
        QuestionKind.FOR: "The question asks for reasons in favour of {subject}.",
        QuestionKind.AGAINST: "The question asks for objections concerning {subject}.",
        QuestionKind.CHANGE: "The question asks how something changed over time: {subject}.",
        QuestionKind.COMPARE: "The question asks for a comparison: {subject}.",
        QuestionKind.VIEWS: "The question asks what was said about {subject}.",
        QuestionKind.FACT: "The question asks about {subject}.",
    },
    probe="A first search read {passages} passages of {sources} sources",
    dated=", dated {first} to {last}.",
    space=" ",
    comma=", ",
    colon=": ",
    conjunction=" and ",
    found="{quotes} statements from {sources} sources, out of {passages} passages read",
    none_found="nothing in {passages} passages read bears on it",
    none_read="no passage holds any of its words; without a model, only sources in the language of the question are found",
    missing="No passage read mentions “{word}”.",
    lead="In short",
    evidence="Further evidence",
    not_covered="What the sources do not cover",
    statement="one statement",
    statements="{count} statements",
    source="one source",
    sources="{count} sources",
    overview="This report quotes {statements} from {sources}.",
    overview_year="This report quotes {statements} from {sources}, dated {first}.",
    overview_dated="This report quotes {statements} from {sources}, dated {first} to {last}.",
    nearest="No source read answers this in full. Nearest:",
    no_answer="No answer in these sources",
    no_answer_detail="The sources searched do not answer this question: {passages}.",
    nothing_for="No statement was found for “{title}”.",
    no_model="Written without a language model: every statement is quoted word for word from its source, "
    "chosen and arranged by rules.",
    no_model_but="First written without a language model. Changed since: {changed}. Every other statement is quoted "
    "word for word from its source, chosen and arranged by rules.",
    no_model_first="First written without a language model. All of it was changed since: {changed}.",
    changed_by_model="“{title}” by the model {model}",
    changed_by_reader="“{title}” by a reader",
    failed="The search on “{title}” failed and is missing here: {detail}",
    dropped="The part “{title}” was dropped on request.",
    cut_short="The search on “{title}” ended early ({reason}); what it had found by then is used.",
    other_years="No source of the years asked about was found; the sources quoted are of other years.",
    reading="“{written}” as “{read}”",
    read_as="Read {readings}: the sources searched have nothing in the spelling of the question.",
    read_as_years="Read {readings}: sources are chosen by their dates.",
    the_rest="{missing} What follows is on the rest of the question.",
    negated="The question’s “{word}” could not be followed: without a model, statements are chosen by what they speak of.",
    said=("In {when}, {who} said: ", "{who}, in {when}: ", "{who} said in {when}: "),
    later="{gap} later, {who} said: ",
    later_again="{gap} later: ",
    again=("Again in {when}: ", "And in {when}: ", "In {when}: "),
    also="Also in {when}: ",
    further="Further on: ",
    undated="{who}, in {title}: ",
    titled="{title}: ",
    titled_dated="{title} ({when}): ",
    year_later="A year",
    years_later="{years} years",
    style_unmet="The tone and audience you chose could not be followed: without a language model the words are the sources' own.",
    at_a_glance="At a glance",
    columns=("Source", "Date", "Statement"),
)
_CHINESE = Phrases(
    about="资料关于{what}说了什么？",
    about_years="{first}年至{last}年的资料关于{what}说了什么？",
    said_about="{who}关于{what}说了什么？",
    argued={
        QuestionKind.WHY: "{subject} 原因 理由 因为",
        QuestionKind.FOR: "{subject} 理由 必要 保护",
        QuestionKind.AGAINST: "{subject} 反对 弊端 危险",
    },
    direct="资料中的直接陈述",
    by_kind={
        QuestionKind.WHY: "所述理由",
        QuestionKind.FOR: "所述理由",
        QuestionKind.AGAINST: "所提异议",
        QuestionKind.VIEWS: "关于{subject}",
        QuestionKind.FACT: "直接陈述",
    },
    purpose="为“{title}”这一部分寻找原文陈述。",
    expected_evidence="来自多个来源、可独立成句、带作者与日期的原文。",
    intent={
        QuestionKind.WHY: "问题询问原因：{subject}。",
        QuestionKind.FOR: "问题询问支持的理由：{subject}。",
        QuestionKind.AGAINST: "问题询问反对的理由：{subject}。",
        QuestionKind.CHANGE: "问题询问随时间的变化：{subject}。",
        QuestionKind.COMPARE: "问题要求比较：{subject}。",
        QuestionKind.VIEWS: "问题询问有关{subject}的论述。",
        QuestionKind.FACT: "问题询问：{subject}。",
    },
    probe="初步检索阅读了{sources}个来源的{passages}个段落",
    dated="，时间为{first}年至{last}年。",
    space="",
    comma="、",
    colon="：",
    conjunction="和",
    found="从{passages}个段落中选出{sources}个来源的{quotes}条陈述",
    none_found="已阅读{passages}个段落，均与此无关",
    none_read="没有任何段落含有问题中的词语；没有语言模型时，只能找到与问题语言相同的资料，如资料为外文，请用该语言提问",
    missing="所读段落均未提及“{word}”。",
    lead="要点",
    evidence="其他证据",
    not_covered="资料未涵盖的内容",
    statement="1条陈述",
    statements="{count}条陈述",
    source="1个来源",
    sources="{count}个来源",
    overview="本报告引用{sources}的{statements}。",
    overview_year="本报告引用{first}年{sources}的{statements}。",
    overview_dated="本报告引用{first}年至{last}年间{sources}的{statements}。",
    nearest="所读资料均未完整回答，最接近的是：",
    no_answer="资料中没有答案",
    no_answer_detail="所检索的资料没有回答这一问题：{passages}。",
    nothing_for="“{title}”部分没有找到陈述。",
    no_model="本报告未使用语言模型：每条陈述均逐字引自其来源，按规则选取和编排。",
    no_model_but="本报告最初未使用语言模型。此后有改动：{changed}。其余陈述均逐字引自其来源，按规则选取和编排。",
    no_model_first="本报告最初未使用语言模型，此后全文均有改动：{changed}。",
    changed_by_model="“{title}”由模型{model}改写",
    changed_by_reader="“{title}”由读者改写",
    failed="“{title}”部分的检索失败，未纳入报告：{detail}",
    dropped="“{title}”部分已按要求取消。",
    cut_short="“{title}”部分的检索提前结束（{reason}）；已采用此前所得。",
    other_years="没有找到所问年份的来源；所引来源出自其他年份。",
    reading="“{written}”作“{read}”",
    read_as="问题中的{readings}理解：资料中没有原来的写法。",
    read_as_years="问题中的{readings}理解：资料按其日期选取。",
    the_rest="{missing}以下内容只涉及问题的其余部分。",
    negated="未能理解问题中的“{word}”：没有语言模型时，只能按所谈的内容选取陈述。",
    said=("{when}，{who}说：", "{who}在{when}说：", "{when}，{who}说："),
    later="{gap}后，{who}说：",
    later_again="{gap}后又说：",
    again=("{when}又说：", "{when}再次说到：", "{when}："),
    also="{when}另外说：",
    further="下文又说：",
    undated="{who}在{title}中说：",
    titled="{title}：",
    titled_dated="{title}（{when}）：",
    year_later="一年",
    years_later="{years}年",
    style_unmet="未能按所选的语气和读者对象来写：没有语言模型时，文字均为来源原文。",
    at_a_glance="一览",
    columns=("来源", "日期", "陈述"),
)


def phrases_in(language: Language) -> Phrases:
    """The templates of a language."""
    return _CHINESE if language is Language.CHINESE else _ENGLISH


_ONE = re.compile(r"\b1 (statement|source|passage)s\b")


def counting(template: str, **counts: int) -> str:
    """A template filled with counts; English has its noun in the singular after a one."""
    return _ONE.sub(r"1 \1", template.format(**counts))
