"""A report as HTML: every citation opens its quote, and nothing from outside becomes markup."""

from tests.ui.fake_api import FakeApi
from tests.ui.stories import MARKDOWN, QUOTE, SPEECH, citations, finished
from ui.api_client import ApiClient
from ui.components.claims_view import claims_html
from ui.components.markup import link
from ui.components.passage import passage_html
from ui.components.report_view import article_html, body_of, cards_html, sources_html
from ui.models import Citation, Claim, Report


def a_report(markdown: str = MARKDOWN) -> Report:
    return Report.model_validate({"markdown": markdown, "citations": citations()})


def test_each_number_is_a_button_for_a_card_with_the_exact_quote(api: FakeApi) -> None:
    run = finished(api)
    report = ApiClient(api.url).report(run.id)
    html = article_html(report) + cards_html(report, run.id)
    assert html.count('popovertarget="cite-1"') == 2
    assert html.count('id="cite-1"') == 1
    assert QUOTE in html
    assert f"source?run={run.id}&amp;n=1" in html


def test_a_number_without_a_citation_stays_text() -> None:
    assert "supports [9]" in article_html(a_report())


def test_markup_in_a_report_is_shown_not_run() -> None:
    assert "&lt;script&gt;" in article_html(a_report())
    assert "<script" not in article_html(a_report())


def test_brackets_in_code_are_left_alone() -> None:
    assert "<code>a[1]</code>" in article_html(a_report("`a[1]` and [1]"))


def test_the_closing_list_of_sources_is_left_to_the_side() -> None:
    assert "## Sources" not in body_of(MARKDOWN)
    assert "Question" not in body_of(MARKDOWN)
    assert "competition [1]" in body_of(MARKDOWN)
    kept = "# T\n\n## Sources\n\nOn archives.\n\n## Results\n\nMore."
    assert body_of(kept) == kept


def test_a_source_is_listed_once_with_all_its_numbers() -> None:
    html = sources_html(a_report().citations)
    assert html.count("<li>") == 1
    assert html.count("r-cite") == 2


def test_only_web_addresses_become_links() -> None:
    assert link("https://example.org/a", "a").startswith("<a ")
    assert link("javascript:alert(1)", "<a>") == "&lt;a&gt;"


def test_the_quote_is_marked_where_its_offsets_point() -> None:
    citation = a_report().citations[0]
    html = passage_html(SPEECH, citation, around=20)
    assert f"<mark>{QUOTE}</mark>" in html
    assert "Fellow-Citizens" not in html
    assert "Fellow-Citizens" in passage_html(SPEECH, citation, whole=True)


def test_offsets_that_do_not_fit_the_stored_copy_are_admitted() -> None:
    moved = Citation.model_validate(citations()[0] | {"start": 3})
    assert "differs from the quotation" in passage_html(SPEECH, moved)
    assert "differs" not in passage_html(SPEECH, a_report().citations[0])


def test_claims_are_counted_and_the_doubtful_ones_listed_with_their_reason() -> None:
    claims = [
        Claim(text="Fine.", support="full", citations=(1,)),
        Claim(text="<b>Wrong</b>.", support="contradicted", citations=(2,), reason="It says the opposite."),
        Claim(text="Thin.", support="full", citations=(3,), weak="rests on one source, a preprint"),
    ]
    html = claims_html(claims)
    assert "2 supported" in html
    assert "1 opposed by what they cite" in html
    assert "Fine." not in html
    assert "&lt;b&gt;Wrong&lt;/b&gt;. [2]" in html
    assert "a preprint" in html
    assert "Look at these twice" not in claims_html(claims[:1])
