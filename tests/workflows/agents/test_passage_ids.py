from workflows.agents.passage_ids import flatten_cite_spans, list_cited_passages, split_at_citations


def test_spans_become_ids_behind_their_words_and_an_open_span_stays() -> None:
    text = 'Duties <cite id="p1, p2">doubled</CITE>, <cite id="ghost">it is said</cite>; <cite id="p3">prices'
    assert flatten_cite_spans(text) == 'Duties doubled [p1, p2], it is said; <cite id="p3">prices'


def test_many_open_spans_stay_as_they_are() -> None:
    """Each was once followed to the end of the text: minutes for these."""
    many = '<cite id="p1">' * 50_000
    assert flatten_cite_spans(many) == many
    assert flatten_cite_spans(many + "said</cite>" + many).endswith("said [p1]" + many)


def test_a_name_in_parentheses_cites_nothing_beside_citations_in_brackets() -> None:
    text = "Tumour protein 53 (p53) is mutated [p7]."
    assert list_cited_passages(text) == ("p7",)
    assert split_at_citations(text) == [("Tumour protein 53 (p53) is mutated ", ("p7",)), (".", ())]
    assert list_cited_passages("Rates rose (p3, p7).") == ("p3", "p7")
