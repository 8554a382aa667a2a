"""Makes a short report with everything that exports may fail on."""

from datetime import UTC, date, datetime

from app.domain.citations import marker_of
from app.domain.claims import Claim, Support
from app.domain.evidence import Quote, Source, SourceConflict, snapshot_hash
from app.domain.query import Language
from app.domain.report import Report, Section
from app.exports.service.composing import Manuscript

HOSTILE = r'\input{/etc/passwd} #read("/etc/passwd") <img src=x> %\end{document} $x$ #1 _x_ ~^ {}'
RECORDS = "Title\nER  - \n\nTY  - BOOK\n@book{x,}"
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def make_quote(text: str, url: str, **about: object) -> Quote:
    """Make a quote that is the whole of its source."""
    source = Source(url=url, snapshot=snapshot_hash(text), **({"title": f"On {text[:20]}"} | about))  # type: ignore[arg-type]
    return Quote(source=source, text=text, start=0, end=len(text))


PLAIN = make_quote(
    "Duties protect labor.", "https://example.org/a_b?x=1%20&y=~z#p", author="Ann O’Neill", published=date(1832, 12, 4)
)
CHINESE = make_quote("关税保护劳工，價格上漲 12%。", "https://zh.example.org/关税", title="关税史")
CRUEL = make_quote(
    HOSTILE,
    "file:///5f0c/%E5%B9%B4%E6%8A%A5%202020.pdf",
    title=RECORDS,
    author=HOSTILE,
    venue=HOSTILE,
    doi="10.1/x}y",
    kind="paper",
)
HEAD = "| " + " | ".join(f"Column {n} 列" for n in range(12)) + " |\n|" + "---|" * 12
TABLE = f"{HEAD}\n| " + " | ".join(["unbreakable" * 4, "值", *("x" for _ in range(9)), f"12 % {marker_of(PLAIN)}"]) + " |"
BODY = (
    f"They say so {marker_of(PLAIN)}. 它们如此说 {marker_of(CHINESE)}。\n\n- *one* 一\n- **two** `x_y` {marker_of(CRUEL)}\n\n"
    f"{TABLE}\n\n> set apart\n\n```\nfirst  line\n\\end{{verbatim}}\n```"
)


def make_manuscript() -> Manuscript:
    """Make the report in English, with Chinese in it."""
    claim = Claim(text="They say so", section=0, start=0, end=11, quote_keys=(PLAIN.key,), support=Support.NONE)
    report = Report(
        title="Duties 关税: <b>& $5</b>",
        sections=(Section(heading="Part 一", body=BODY), Section(heading=r"Sub #1 \x", level=3, body="More."), *_fill_sections()),
        quotes=(PLAIN, CHINESE, CRUEL),
        conflicts=(SourceConflict(about="whether it helps", quote_keys=(PLAIN.key, CHINESE.key)),),
        notices=("A part failed. 部分失败。",),
        claims=(claim,),
    )
    return Manuscript(report=report, question="Why duties? 为什么？", language=Language.ENGLISH, finished=NOW)


def _fill_sections() -> tuple[Section, ...]:
    return tuple(Section(heading=f"Section {n}", body=f"Words {marker_of(PLAIN)}.") for n in range(2))
