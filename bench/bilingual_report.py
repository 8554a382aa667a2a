"""Makes one long report in English and Chinese for the exports: real articles quoted, wide tables, and what attackers write."""

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from app.domain.citations import marker_of
from app.domain.claims import Claim, Support
from app.domain.evidence import Quote, Source, SourceConflict, snapshot_hash
from app.domain.query import Language
from app.domain.report import Report, Section
from app.exports.service.composing import Manuscript

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
CORPORA = ("wiki_en/articles_full.jsonl.gz", "wiki_zh/articles.jsonl.gz", "wikinews/dated.jsonl.gz")
TOPICS = (
    "Origins and early history",
    "背景与起源",
    "What the record shows",
    "地理与人口",
    "Institutions and their makers",
    "制度的形成",
    "The news as it was told",
    "科学与技术",
    "Open questions",
    "结语与展望",
)
ARTICLES_A_SECTION = 3
SENTENCE = re.compile(r"[^.!?。！？\n]{25,260}[.!?。！？]")
# Each must come out as these very characters, and do nothing.
HOSTILE = (
    r"\input{/etc/passwd} \write18{id} $\infty$ 100% & #1 _x_ ~ ^ {} \end{document}",
    '#read("/etc/passwd") #import "@preview/x:0.1.0" $ #sys $ @label <label> #eval("1")',
    "<script>alert(1)</script> <img src=https://evil.example/p.png> &lt;b&gt; ]]> <?xml?>",
    'TY  - JOUR @article{x, title={y}} =HYPERLINK("https://evil.example")',
)
RARE = "naïve façade — “curly” ‘quotes’ … € £ ½ ± × ≤ α β Ω ж 日本語 한국어 繁體中文 龘 𠮷 ﬁ é"


def make_bilingual_manuscript() -> Manuscript:
    """Make the report from the shared texts; it is the same each time."""
    articles = [_read_articles(DATA / name) for name in CORPORA]
    quotes: list[Quote] = []
    sections = [Section(heading="Summary 摘要", body=_write_summary())]
    for number, topic in enumerate(TOPICS):
        source = articles[1] if number % 2 else articles[2 if topic.startswith("The news") else 0]
        body, used = _write_section(list(islice(source, ARTICLES_A_SECTION)), table=number)
        sections.append(Section(heading=topic, body=body))
        quotes += used
    hostile = [_make_hostile_quote(text, number) for number, text in enumerate((*HOSTILE, RARE))]
    body = "\n\n".join(f"A source says this: {marker_of(quote)}" for quote in hostile)
    sections.append(
        Section(heading=f"Special characters: {HOSTILE[0]}", body=f"{body}\n\n```\n{HOSTILE[0]}\n\\end{{verbatim}}\n```")
    )
    first = _escape_markdown(quotes[0].text)
    claim = Claim(
        text=first, section=1, start=0, end=len(first), quote_keys=(quotes[0].key,), support=Support.NONE, reason="not said"
    )
    report = Report(
        title=f"A bilingual survey 双语综述: {HOSTILE[2]}",
        sections=tuple(sections),
        quotes=(*quotes, *hostile),
        conflicts=(SourceConflict(about="When it began 起始时间", quote_keys=(quotes[0].key, quotes[1].key)),),
        notices=("One part of the research could not be done. 有一部分研究未能完成。",),
        claims=(claim,),
    )
    return Manuscript(
        report=report,
        question="What do encyclopedias and the news say? 百科与新闻怎么说？",
        language=Language.ENGLISH,
        finished=datetime(2026, 11, 20, 15, 4, tzinfo=UTC),
    )


def _read_articles(path: Path) -> Iterator[tuple[Source, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            text = record["text"]
            if len(SENTENCE.findall(text)) >= 8:
                yield Source(url=record["url"], title=record["title"], snapshot=snapshot_hash(text), kind="encyclopedia"), text


def _write_section(articles: list[tuple[Source, str]], table: int) -> tuple[str, list[Quote]]:
    """Write a paragraph an article, a list and a table; every sentence cites itself."""
    quotes = [[_make_quote(source, match) for match in islice(SENTENCE.finditer(text), 8)] for source, text in articles]
    blocks = [" ".join(f"{_escape_markdown(quote.text)} {marker_of(quote)}" for quote in row[:4]) for row in quotes]
    blocks.insert(
        2,
        "\n".join(
            f"- **{_escape_markdown(row[0].source.title)}**: {_escape_markdown(row[5].text)} {marker_of(row[5])}"
            for row in quotes[:4]
        ),
    )
    blocks.insert(4, _write_table(quotes, columns={1: 9, 3: 12}.get(table % 4, 4)))
    return "\n\n".join(blocks), [quote for row in quotes for quote in row]


def _write_table(quotes: list[list[Quote]], columns: int) -> str:
    names = [
        "Article 条目",
        "Statement 陈述",
        "Source 来源",
        "Length 长度",
        "Kind",
        "Checked 已核",
        "Language",
        "Offset",
        "Address",
        "Snapshot",
        "Remark 备注",
        "Position",
    ]
    lines = [f"| {' | '.join(names[:columns])} |", f"|{'---|' * 3}{'---:|' * (columns - 3)}"]
    for row in quotes:
        quote = row[6]
        cells = [
            quote.source.title,
            f"{_escape_markdown(quote.text[:90])} {marker_of(quote)}",
            "encyclopedia",
            str(len(quote.text)),
            "article",
            "yes 是",
            "en/zh",
            str(quote.start),
            quote.source.url,
            quote.source.snapshot[:40],
            "无",
            str(quote.end),
        ]
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells[:columns])} |")
    return "\n".join(lines)


def _make_quote(source: Source, match: re.Match[str]) -> Quote:
    text = match.group(0)
    start = match.start() + len(text) - len(text.lstrip())
    return Quote(source=source, text=text.strip(), start=start, end=start + len(text.strip()))


def _make_hostile_quote(text: str, number: int) -> Quote:
    source = Source(
        url=f"https://example.org/a_b/{number}?q=100%25&x=~y#part",
        title=text,
        snapshot=snapshot_hash(text),
        author=text,
        published=datetime(2021, 3, 4, tzinfo=UTC).date(),
        venue=text,
        doi="10.1000/a_b",
        kind="paper",
    )
    return Quote(source=source, text=text, start=0, end=len(text))


def _escape_markdown(text: str) -> str:
    """Write a sentence as a careful writer puts it into Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", " ".join(text.split()))


def _write_summary() -> str:
    return (
        "This report joins what English and Chinese sources say. 本报告汇集中英文来源的内容，逐句注明出处。\n\n"
        "1. Every sentence cites the words it rests on.\n2. 每一句都可回到原文。\n3. Nested:\n"
        "   - *emphasis 强调* and **strong 加粗**\n"
        "   - `code_with_underscores` 与 `代码`\n\n> A quotation set apart, 独立引文, over\n> two lines."
    )
