"""The options of a run, in words for the agents: how to write, and which sources can be found.

A style goes into the report agent's prompts. The rest are notes of the reader. A reader's text is put on one line and cannot
imitate a delimiter.
"""

from collections.abc import Mapping

from app.domain.options import Length, ReportFormat, ReportStyle, SearchScope, Tone
from app.domain.query import Language, ResearchQuery
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory
from workflows.agents.untrusted import as_attribute

READER = "user"
EN, ZH = Language.ENGLISH, Language.CHINESE
SHOWN_DOMAINS = 10

Wordings = Mapping[Language, str]
LENGTHS: Mapping[Length, Wordings] = {
    Length.SHORT: {
        EN: "Length: short. Say only what carries the answer; a summary of 60 to 120 words, a conclusion of 60 to 120 words.",
        ZH: "篇幅：简短。只写支撑答案的内容；摘要约 100 至 200 字，结论约 100 至 200 字。",
    },
    Length.MEDIUM: {EN: "Length: medium.", ZH: "篇幅：中等。"},
    Length.LONG: {
        EN: "Length: long. Go into mechanisms, cases and counter-evidence; a summary of 200 to 400 words.",
        ZH: "篇幅：详尽。深入机制、案例与反面证据；摘要约 350 至 700 字。",
    },
}
TONES: Mapping[Tone, Wordings] = {
    Tone.NEUTRAL: {EN: "Tone: neutral and factual, without judgement.", ZH: "语气：中立、就事论事，不作评判。"},
    Tone.ACADEMIC: {
        EN: "Tone: academic; precise terms, hedged claims, limits of the evidence named.",
        ZH: "语气：学术；术语准确，措辞审慎，说明证据的局限。",
    },
    Tone.BUSINESS: {
        EN: "Tone: for a business decision; the consequence first, then what it rests on.",
        ZH: "语气：面向商业决策；先讲结论与影响，再讲依据。",
    },
    Tone.PLAIN: {
        EN: "Tone: plain words and short sentences; each technical term explained where it first stands.",
        ZH: "语气：通俗，句子简短；专业术语首次出现时加以解释。",
    },
}
FORMATS: Mapping[ReportFormat, Wordings] = {
    ReportFormat.REPORT: {EN: "Form: a report in sections of connected prose.", ZH: "形式：分节的连贯论述。"},
    ReportFormat.BRIEF: {
        EN: "Form: a brief. One or two sections, the answer in the first sentence, no background that the answer does not need.",
        ZH: "形式：简报。只有一两节，第一句给出答案，不写与答案无关的背景。",
    },
    ReportFormat.TABLE_FIRST: {
        EN: "Form: table first. The first section is one Markdown table with a header row that answers the question by itself, "
        "each cell cited; prose only for what the table cannot hold.",
        ZH: "形式：表格优先。第一节是一张能独立回答问题的 Markdown 表格，含表头，单元格内注明引用；表格容纳不下的内容才用文字。",
    },
    ReportFormat.BULLETS: {
        EN: "Form: bullet lists. Each point one line of one or two sentences with its citation; no paragraphs.",
        ZH: "形式：要点列表。每点一行，一两句话并注明引用；不写段落。",
    },
}
AUDIENCE: Wordings = {
    EN: "Audience: {who}. Write for them: their knowledge, their questions.",
    ZH: "读者：{who}。按其知识与关切来写。",
}
SCOPE: Mapping[str, Wordings] = {
    "from": {EN: "Only sources published from {day} on can be found.", ZH: "只能检索到 {day} 及之后发表的资料。"},
    "to": {EN: "Only sources published up to {day} can be found.", ZH: "只能检索到 {day} 及之前发表的资料。"},
    "allowed": {EN: "Of the web, only these domains may be read: {domains}.", ZH: "网页只能阅读这些域名：{domains}。"},
    "refused": {EN: "These domains may not be read: {domains}.", ZH: "不得阅读这些域名：{domains}。"},
    "asked": {EN: "Asked back “{question}”, the reader answered: {answer}", ZH: "针对“{question}”，读者回答：{answer}"},
}


def describe_style(style: ReportStyle | None, language: Language) -> str:
    """Return how to write, one line for each choice; empty when the reader chose nothing."""
    if style is None:
        return ""
    said = [LENGTHS[style.length]] if style.length else []
    said += [TONES[style.tone]] if style.tone else []
    said += [FORMATS[style.format]] if style.format else []
    lines = [f"- {saying[language]}" for saying in said]
    lines += [f"- {AUDIENCE[language].format(who=as_attribute(style.audience))}"] if style.audience else []
    return "\n".join(lines)


def add_option_notes(memory: SharedMemory, query: ResearchQuery, language: Language) -> SharedMemory:
    """Add notes about the reader's answers and the allowed sources to the memory; without any, return it unchanged."""
    told = _format_answers(query, language) + (_format_scope(query.scope, language) if query.scope else [])
    return memory.with_entries(*(MemoryEntry(agent=READER, kind=MemoryKind.NOTE, text=text) for text in told)) if told else memory


def add_style_notes(memory: SharedMemory, query: ResearchQuery, language: Language) -> SharedMemory:
    """Add the same notes and the lines of the style, for the planner."""
    lines = describe_style(query.style, language).splitlines()
    notes = tuple(MemoryEntry(agent=READER, kind=MemoryKind.NOTE, text=line.removeprefix("- ")) for line in lines if line)
    return add_option_notes(memory, query, language).with_entries(*notes)


def _format_answers(query: ResearchQuery, language: Language) -> list[str]:
    said = SCOPE["asked"][language]
    return [said.format(question=" ".join(c.question.split()), answer=" ".join(c.answer.split())) for c in query.clarified]


def _format_scope(scope: SearchScope, language: Language) -> list[str]:
    told = [("from", scope.published_from), ("to", scope.published_to)]
    lines = [SCOPE[what][language].format(day=day.isoformat()) for what, day in told if day]
    for what, domains in (("allowed", scope.domains_allowed), ("refused", scope.domains_refused)):
        lines += [SCOPE[what][language].format(domains=", ".join(domains[:SHOWN_DOMAINS]))] if domains else []
    return lines
