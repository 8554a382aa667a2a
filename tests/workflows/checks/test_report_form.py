"""Outlines, citations, languages, repetitions and lists of reports: labelled texts in English and Chinese."""

import time

import pytest

from app.domain.query import Language, detect_language
from workflows.checks.citation_format import CitationFault, find_citation_faults, split_off_sources
from workflows.checks.heading_faults import OutlineFault, ReportHeading, find_missed_titles, find_outline_faults, list_headings
from workflows.checks.languages import find_language_breaks
from workflows.checks.markdown_faults import MarkdownFault, find_markdown_faults
from workflows.checks.redundancy import find_repeats, list_statements
from workflows.checks.source_lists import names_a_source_list
from workflows.checks.table_repair import repair_tables

F, C, EN, ZH = OutlineFault, CitationFault, Language.ENGLISH, Language.CHINESE

OUTLINES = [
    ("# Tariffs\n## Revenue\n### Before 1830\n### After 1830\n## Protection", []),
    ("# 关税\n## 一、收入\n### （一）早期\n### （二）后期\n## 二、保护\n### （一）北方", []),
    ("## 1. Revenue\n### 1.1 Early\n### 1.2 Late\n## 2. Protection\n### 2.1 North", []),
    ("## 第一章 收入\n## 第二章 保护\n## 第十章 结论", [(2, F.NUMBERING)]),
    ("## 1828 and after\n## 1832 and after\n## 3 reasons for it\n## 4 more", [(2, F.NUMBERING)]),
    ("# Tariffs\n### Revenue\n### Protection\n## Wages", [(1, F.SKIPPED)]),
    ("### Revenue\n## Protection\n#### Deep", [(0, F.SKIPPED), (2, F.SKIPPED)]),
    ("## 1. Revenue\n## 3. Protection", [(1, F.NUMBERING)]),
    ("## 1 Revenue\n### 2.1 Early\n## 2 Wages", [(1, F.NUMBERING)]),
    ("## 一、收入\n## 一、保护\n## 二、工资", [(1, F.NUMBERING)]),
    ("## Revenue\n##\n## 2.\n## Protection", [(1, F.EMPTY), (2, F.EMPTY), (2, F.NUMBERING)]),
    ("## Summary\n### Figures\n## Summary\n### Figures", [(2, F.REPEATED)]),
    ("## I. Revenue\n## II. Protection\n## III. Wages\n## IV. Prices", []),
    ("## I. Revenue\n## II. Protection\n## IV. Prices", [(2, F.NUMBERING)]),
    ("## Ⅰ. 收入\n## Ⅱ. 保护\n## Ⅳ. 价格", [(2, F.NUMBERING)]),
    ("## A. Revenue\n## B. Protection\n## D. Wages", [(2, F.NUMBERING)]),
    ("\n".join(f"## {letter}. On {letter}" for letter in "ABCDEFGHIJ"), []),
    ("## I. One\n### A. Here\n### B. There\n## II. Two\n### A. Here", []),
    ("## Step 1: Ask\n## Step 3: Write", [(1, F.NUMBERING)]),
    ("## Step 1: Ask\n## Step 2: Read\n## Conclusion", []),
    ("## 步骤一：提问\n## 步骤三：写作", [(1, F.NUMBERING)]),
    ("## 附录A\n## 附录B\n## 附录D", [(2, F.NUMBERING)]),
    ("## Phase 3 trials\n## Phase 1 trials\n## E. coli\n## J. Smith on trade\n## A history", []),
    ("```\n# no heading\n```\n## Revenue", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "faults"), OUTLINES)
def test_outlines(text: str, faults: list[tuple[int, OutlineFault]]) -> None:
    assert [(fault.place, fault.fault) for fault in find_outline_faults(list_headings(text))] == faults


def test_titles_of_a_plan_that_a_report_has_not() -> None:
    headings = [
        ReportHeading(2, "1. **Revenue** of the Treasury"),
        ReportHeading(3, "Who was protected, and why"),
        ReportHeading(2, "三、工资的变化"),
    ]
    planned = ["Revenue of the treasury", "2. Who was protected and why?", "Wages", "工资的变化", ""]
    assert find_missed_titles(planned, headings) == ["Wages", ""]


SOURCES = "\n\n## Sources\n\n**[1]** *A*. <https://a.example>\n\n> words\n\n**[2]** *B*.\n"
CITED = [
    (f"Rates rose [1], and fell [2].{SOURCES}", []),
    ("税率上升[1][2]。\n\n## 参考文献\n[1] 甲\n[2] 乙", []),
    (f"Rates rose [1-2] in [1828].{SOURCES}", []),
    (f"Rates rose [1][3].{SOURCES}", [C.DANGLING, C.UNUSED]),
    ("税率上升[1]。\n\n参考文献：\n1. 甲\n2. 乙", [C.UNUSED]),
    ("Rates rose [1][2][3].\n\n## Sources\n\n*A*.\n\n- **[1]** x\n- **[3]** y\n\n*B*.\n\n- **[2]** z", []),
    ("Rates rose [2][3].\n\n# References\n[2] A\n[3] B", [C.ORDER]),
    ("Rates rose [0][1].\n\n# References\n[0] A\n# words of A\n[1] B", []),
    ("Rates rose [q3], and fell [[0123456789abcdef]] 【4†L2】 <cite id=\"x\">a</cite>.", [C.LEFTOVER] * 5),
    ("税率上升[来源]，此后下降[^1]。", [C.LEFTOVER] * 2),
    (f"[1] Rates rose.\n\n- [2] Wages fell.{SOURCES}", [C.FLOATING] * 2),
    (f"Rates rose\n[1] and fell [2].{SOURCES}", []),
    ("See [1](https://a.example), without a list.", []),
    ("```\n[q3]\n```\nRates rose, as `[q3]` says.", []),
    (f"Rates rose [1, 2], in the interval [0, 1].{SOURCES}", []),
    (f"Rates rose [1, 2, 3].{SOURCES}", [C.DANGLING]),
    ("Rates rose [0, 1].\n\n# References\n[0] A\n[1] B", []),
    ("Rates rose [1].\n\n**Sources:**\n1. A\n2. B", [C.UNUSED]),
    ("Rates rose [1].\n\n## Sources consulted\n- [1] A\n- [2] B", [C.UNUSED]),
    ("The vector [1, 2] has no list of sources here.", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "faults"), CITED)
def test_citations(text: str, faults: list[CitationFault]) -> None:
    assert [found.fault for found in find_citation_faults(text)] == faults


def test_a_list_of_sources_ends_at_the_next_heading_and_the_last_one_counts() -> None:
    text = "# Sources\nWhat the sources [1] say.\n# Sources\n[1] A\n# Appendix\n1. not one"
    assert split_off_sources(text) == ("# Sources\nWhat the sources [1] say.", (1,))


CHINESE_SOUND = [
    "OpenAI 的 GPT-4 模型在 MMLU 和 HumanEval 上的成绩均高于 Claude 3。",
    "他写道：“It is a condition which confronts us, not a theory at all.”",
    "参见 *A history of the tariff policy in the United States of America*（1888）。",
    "- Azure Monitor Managed Service for Prometheus (AKS)",
    "> It is a condition which confronts us, and not a mere theory.",
    "## What the presidents said about the tariff in these years",
]
ENGLISH_SOUND = [
    "The tax was called “关税” at the time, and the law 《关税法》.",
    "Duties (关税) rose.",
    "> 关税上升了。",
    "See [关税史](https://a.example).",
]


@pytest.mark.parametrize(("text", "language"), [*((t, ZH) for t in CHINESE_SOUND), *((t, EN) for t in ENGLISH_SOUND)])
def test_foreign_words_that_stand_by_right(text: str, language: Language) -> None:
    assert find_language_breaks(text, language) == []


def test_sentences_that_leave_the_language() -> None:
    slip = "the rates on wool were never lowered again"
    chinese = f"税率上升。However, {slip} after that year. 此后下降。\n\n| 年份 |\n|---|\n| The year in which {slip} |"
    assert [text[:12] for text in find_language_breaks(chinese, ZH)] == ["However, the", "The year in "]
    english = "Rates rose. The 关税 was never lowered. 此后下降了很多。\n\nWages fell."
    assert find_language_breaks(english, EN) == ["The 关税 was never lowered.", "此后下降了很多。"]
    assert detect_language("此后 OpenAI 的 GPT-4 又多次提高。") is ZH
    assert detect_language(f"{english} So {slip}, and that was all.") is EN


def test_statements_said_twice() -> None:
    said = [
        "The tariff of 1828 raised the duties on imported wool and hemp.",
        "Southern planters opposed it from the first day.",
        "In 1828 the tariff raised duties on imported hemp and wool.",
        "The tariff of 1832 raised the duties on imported wool and hemp.",
        "一八二八年的关税法大幅提高了进口羊毛和麻的税率。",
        "一八二八年的关税法大幅提高了进口羊毛与麻的税率。",
        "In short, rates rose.",
        "In short, rates rose.",
    ]
    assert [(found.first, found.second) for found in find_repeats(said)] == [(0, 2), (4, 5)]
    assert all(0.8 <= found.likeness <= 1.0 for found in find_repeats(said))
    text = f"## {said[0]}\n\n{said[0]} [1]\n\n## Sources\n[1] {said[0]}"
    assert len(list_statements(text)) == 1, "a heading and a source's title are no statements of the report"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("1. a\n2. b\n3. c", []),
        ("1. a\n1. b\n1. c", []),
        ("3. a\n4. b", []),
        ("1. 甲\n3. 乙", [MarkdownFault.NUMBERING]),
        ("1. a\n   1. x\n   3. y\n2. b", [MarkdownFault.NUMBERING]),
        ("1. a\n\ntext\n\n2. b", []),
        ("```\ncode", [MarkdownFault.OPEN_CODE]),
        ("```\ncode\n```", []),
        ("> ```\n> code\n> ```\n\ntext", []),
        ("- a\n- b", []),
    ],
)
def test_lists_and_code(text: str, faults: list[MarkdownFault]) -> None:
    assert find_markdown_faults(text) == faults


@pytest.mark.parametrize("piece", ["|-|\n", "| a |\n\n", "<cite ", "[1,"])
def test_detectors_take_no_longer_than_a_text_is_long(piece: str) -> None:
    def seconds(times: int) -> float:
        began = time.process_time()
        text = piece * times
        repair_tables(text)
        find_citation_faults(text)
        return time.process_time() - began

    assert min(seconds(4_000) for _ in range(3)) < 10 * max(seconds(1_000) for _ in range(3)) + 0.5


SOURCE_LISTS = (
    "**Sources:**|## Sources consulted|### Works Cited|## References and Further Reading"
    "|## 7. References|# VII. References|Sources Cited:"
    "|## 📚 Sources|## Selected Bibliography|## References used in this report"
    "|__References__:|## Notes and References|## Endnotes"
    "|**Citations:**|## Online Sources|## Literature Cited|**来源：**|## 参考来源|## 信息来源"
    "|## 八、参考文献|## 参考文献（References）"
    "|**参考链接：**|## 参考资料与来源|資料來源：|## 本报告引用的来源"
)
OTHER_LINES = (
    "## Sources of Growth|## Energy Sources|## Open Source|## Primary Sources"
    "|## Data Sources and Methodology|## Literature|## Literature Review"
    "|## Bibliography of Darwin|Sources say a deal is near|**Source:** Eurostat"
    "|The sources.|## Notes|## 收入来源|## 能源来源|## 来源国分析"
    "|## 参考意义|## 资金来源与用途|来源：国家统计局"
)


@pytest.mark.parametrize("line", SOURCE_LISTS.split("|"))
def test_headings_of_lists_of_sources(line: str) -> None:
    assert names_a_source_list(line)


@pytest.mark.parametrize("line", OTHER_LINES.split("|"))
def test_lines_that_head_no_list_of_sources(line: str) -> None:
    assert not names_a_source_list(line)
