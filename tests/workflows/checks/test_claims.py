"""Where the claims of a body are, and what they cite."""

from workflows.checks.claims import claims_of


def texts(body: str) -> list[str]:
    return [claim.text for claim in claims_of(body)]


def test_each_claim_stands_where_its_offsets_say() -> None:
    body = (
        "Duties rose in 1824 [[aaaa]]. Mr. Clay paid 3.5 million for it [[bbbb]][[cccc]].\n\n- A list item says so too [[dddd]]"
    )
    claims = claims_of(body)
    assert [body[c.start : c.end] for c in claims] == [
        "Duties rose in 1824 [[aaaa]].",
        "Mr. Clay paid 3.5 million for it [[bbbb]][[cccc]].",
        "A list item says so too [[dddd]]",
    ]
    assert [c.keys for c in claims] == [("aaaa",), ("bbbb", "cccc"), ("dddd",)]
    assert claims[1].text == "Mr. Clay paid 3.5 million for it."


def test_a_marker_after_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    claims = claims_of("Duties rose in 1824. [[aaaa]] Prices fell after that. [[bbbb]]")
    assert [c.keys for c in claims] == [("aaaa",), ("bbbb",)]


def test_sentences_before_a_marker_lean_on_it_within_their_paragraph() -> None:
    claims = claims_of("Duties rose in 1824. They were meant to protect [[aaaa]].\n\nNothing is cited here at all.")
    assert [(c.keys, c.leans_on) for c in claims] == [((), ("aaaa",)), (("aaaa",), ()), ((), ())]


def test_headings_table_heads_and_scraps_are_no_claims() -> None:
    body = "**Bold line**\n\n| Year | What happened then |\n|---|---|\n| 1890 | wages rose strongly [[ffff]] |\n\nNo."
    assert texts(body) == ["1890", "wages rose strongly"]


def test_chinese_sentences() -> None:
    body = "税收在1890年上升了。[[hhhh]]工资没有增加[[iiii]]。"
    claims = claims_of(body)
    assert [c.text for c in claims] == ["税收在1890年上升了。", "工资没有增加。"]
    assert [c.keys for c in claims] == [("hhhh",), ("iiii",)]
    assert [body[c.start : c.end] for c in claims] == ["税收在1890年上升了。[[hhhh]]", "工资没有增加[[iiii]]。"]


def test_quotation_and_emphasis() -> None:
    body = "> In *Title*, **he** said: “Duties protect labor. They help the poor.” [[gggg]]"
    claims = claims_of(body)
    assert [c.text for c in claims] == ["In Title, he said: “Duties protect labor.", "They help the poor.”"]
    assert claims[0].leans_on == claims[1].keys == ("gggg",)


def test_a_marker_behind_a_scrap_still_counts_for_the_sentences_before_it() -> None:
    claims = claims_of("Duties rose after the war. So it was. [[aaaa]]")
    assert [(c.text, c.leans_on) for c in claims] == [("Duties rose after the war.", ("aaaa",))]


def test_an_empty_body_has_none() -> None:
    assert claims_of("") == []
    assert claims_of("\n\n[[aaaa]]\n") == []


def test_code_is_no_claim_and_a_sentence_in_bold_is_one() -> None:
    body = (
        "Install the packages first [[aaaa]].\n```bash\npip install the packages\n# and be done\n```\nThen duties rose [[bbbb]]."
    )
    assert texts(body) == ["Install the packages first.", "Then duties rose."]
    assert texts("**Wages fell by 40 percent after 1890 [[cccc]]**") == ["Wages fell by 40 percent after 1890"]
    assert texts("```\nWages fell by 40 percent.") == ["Wages fell by 40 percent."], "nothing closes the fence"
