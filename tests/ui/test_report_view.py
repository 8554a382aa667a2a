"""A report as HTML: every citation opens its quote, and nothing from outside becomes markup."""

from rubrica_client.models import Citation, Claim
from tests.ui.example_runs import MARKDOWN, QUOTE, SPEECH, make_citations
from ui.components.claims_view import checked_claims_html
from ui.components.click_listener import make_cards
from ui.components.markup import link_html, site_of
from ui.components.report_view import cited_sources_html, claims_citing, make_article, outline_html, strip_report
from ui.components.source_view import heading_html, passage_html
from ui.report import PageReport


def a_report(markdown: str = MARKDOWN) -> PageReport:
    return PageReport.model_validate({"markdown": markdown, "citations": make_citations()})


def article_html(report: PageReport) -> str:
    return make_article(report).html


def test_each_number_is_a_button_whose_card_has_the_exact_quote() -> None:
    report = a_report()
    assert article_html(report).count('data-cite="1"') == 2
    assert make_cards(report)["citations"]["1"]["quote"] == QUOTE


def test_a_source_whose_address_cannot_be_read_is_named_and_not_linked() -> None:
    """Services of search name their sources; a page must stand whatever they say."""
    assert link_html("http://[half", "A <b> page") == "A &lt;b&gt; page"
    assert (site_of("http://[half"), site_of("https://www.example.org/x")) == ("[half", "example.org")


def test_the_outline_leads_to_the_sections() -> None:
    shown = make_article(a_report("# T\n\n## One *two*\n\ntext\n\n### Three\n\nmore\n\n## Four <b>\n\nend"))
    assert [(heading.text, heading.level) for heading in shown.outline] == [("One two", 2), ("Three", 3), ("Four <b>", 2)]
    for heading in shown.outline:
        assert f'id="{heading.anchor}"' in shown.html
        assert f'href="#{heading.anchor}"' in outline_html(shown.outline)
    assert shown.html.count("<section>") == shown.html.count("</section>") == 2
    assert "Four &lt;b&gt;" in outline_html(shown.outline)


def test_a_doubtful_claim_is_marked_where_it_stands() -> None:
    markdown = "Sure. Duties *fell* in 1846 [1], \nby a lot†. **Bold and** more.\n\n"
    markdown += "| a |\n|---|\n| In a table [2]. |\n\nNot [9] <i>this</i>."
    claims = (
        Claim(text="Sure.", support="full"),
        Claim(text="Duties *fell* in 1846, by a lot.", support="none", reason='"><script>x</script>'),
        Claim(text="and more.", support="partial"),
        Claim(text="In a table.", support="contradicted"),
        Claim(text="Nowhere.", support="none"),
        Claim(text="Not [9] <i>this</i>.", support="none"),
    )
    html = article_html(a_report(markdown).model_copy(update={"claims": claims}))
    assert 'class="r-claim none" id="claim-1"' in html
    marked = html[html.index('id="claim-1"') :]
    assert marked.index("by a lot") < marked.index("</span>") < marked.index("Bold")
    assert 'id="claim-3"' in html
    assert 'id="claim-5"' in html
    assert 'id="claim-0"' not in html
    assert 'id="claim-2"' not in html, "it begins within an emphasis and ends outside"
    assert "<script" not in html


def test_a_number_without_a_citation_stays_text() -> None:
    assert "supports [9]" in article_html(a_report())


def test_markup_in_a_report_is_shown_not_run() -> None:
    assert "&lt;script&gt;" in article_html(a_report())
    assert "<script" not in article_html(a_report())


def test_brackets_in_code_are_left_alone() -> None:
    assert "<code>a[1]</code>" in article_html(a_report("`a[1]` and [1]"))


def test_the_closing_list_of_sources_is_left_to_the_side() -> None:
    assert "## Sources" not in strip_report(MARKDOWN)
    assert "Question" not in strip_report(MARKDOWN)
    assert "competition [1]" in strip_report(MARKDOWN)
    kept = "# T\n\n## Sources\n\nOn archives.\n\n## Results\n\nMore."
    assert strip_report(kept) == kept


def test_a_source_is_listed_once_with_all_its_numbers() -> None:
    html = cited_sources_html(a_report().citations)
    assert html.count("<li>") == 1
    assert html.count("r-cite") == 2


def test_only_web_addresses_become_links() -> None:
    assert link_html("https://example.org/a", "a").startswith("<a ")
    assert link_html("javascript:alert(1)", "<a>") == "&lt;a&gt;"


def test_the_quote_is_marked_where_its_offsets_point() -> None:
    citation = a_report().citations[0]
    html = passage_html(SPEECH, citation, around=20)
    assert f"<mark>{QUOTE}</mark>" in html
    assert "Fellow-Citizens" not in html
    assert "Fellow-Citizens" in passage_html(SPEECH, citation, whole=True)


def test_the_page_of_a_citation_is_told_where_it_is_known() -> None:
    paged = Citation.model_validate(make_citations()[0] | {"page": 12})
    assert "<span>page 12 · characters" in heading_html(paged, 500)
    assert "page" not in heading_html(a_report().citations[0], 500)


def test_offsets_that_do_not_fit_the_stored_copy_are_admitted() -> None:
    moved = Citation.model_validate(make_citations()[0] | {"start": 3})
    assert "differs from the quotation" in passage_html(SPEECH, moved)
    assert "differs" not in passage_html(SPEECH, a_report().citations[0])


def test_claims_are_counted_and_the_doubtful_ones_listed_with_their_reason() -> None:
    claims = [
        Claim(text="Fine.", support="full", citations=(1,)),
        Claim(text="<b>Wrong</b>.", support="contradicted", citations=(2,), reason="It says the opposite."),
        Claim(text="Thin.", support="full", citations=(3,), weak="rests on one source, a preprint"),
    ]
    html = checked_claims_html(claims)
    assert "2 supported" in html
    assert "1 opposed by what it cites" in html
    assert "Fine." not in html
    assert "&lt;b&gt;Wrong&lt;/b&gt;." in html
    assert 'data-cite="2"' in html
    assert "a preprint" in html
    assert "Look at these twice" not in checked_claims_html(claims[:1])


def test_a_row_of_a_table_is_one_claim_and_its_cells_are_none() -> None:
    row = "Year: 1890; Wages: 12 dollars; Remark: they rose"
    cells = [
        Claim(text="12 dollars", support="full", citations=(1,), section="Wages", row=row),
        Claim(text="they rose", support="none", citations=(2,), section="Wages", row=row, reason="No source says it."),
        Claim(text="Fine.", support="full", citations=(1,), section="Wages"),
    ]
    html = checked_claims_html(cells)
    assert "1 supported" in html
    assert html.count("<li class=") == 1
    assert f'<a href="#claim-1">{row}</a>' in html, "it leads to the cell that is doubtful"
    assert "they rose: No source says it." in html
    assert [claim.text for claim in claims_citing(cells, 1)] == [row, "Fine."]


def test_notices_are_one_folded_line() -> None:
    notices = "> **Note.** Only two of <three> searches ended.\n\n> **Note.** One source is retracted."
    html = make_article(PageReport(markdown=f"# Tariffs\n\n{notices}\n\n## Then\n\nText.\n\n> A quotation."))
    folded, opened, rest = html.html.partition("</details>")
    assert opened
    assert "<summary>Note. Only two of &lt;three&gt; searches ended. (+1)</summary>" in folded
    assert "One source is retracted." in folded
    assert "A quotation." in rest, "what a report quotes later is text"
    assert "<details" not in make_article(PageReport(markdown="# Tariffs\n\n## Then\n\nText.")).html
    assert "<summary>No model answered.</summary>" in make_article(PageReport(markdown="> No model answered.\n\nText.")).html
