from app.domain.citations import CitationStore, marker_of
from app.domain.evidence import Quote, Source, snapshot_hash

TEXT = "Duties protect labor. Duties burden the farmer. Revenue is enough."
SOURCE = Source(url="https://example.org/1", title="Message", snapshot=snapshot_hash(TEXT))


def quote(text: str) -> Quote:
    start = TEXT.index(text)
    return Quote(source=SOURCE, text=text, start=start, end=start + len(text))


LABOR, FARMER = quote("Duties protect labor."), quote("Duties burden the farmer.")


def test_numbers_follow_first_appearance_and_repeat_for_the_same_quote() -> None:
    numbered = CitationStore([LABOR, FARMER]).number(
        f"One {marker_of(FARMER)}. Two {marker_of(LABOR)}. Again {marker_of(FARMER)}."
    )
    assert numbered.text == "One [1]. Two [2]. Again [1]."
    assert [(c.n, c.quote.text) for c in numbered.citations] == [(1, FARMER.text), (2, LABOR.text)]


def test_a_fabricated_marker_never_reaches_the_reader_and_is_counted() -> None:
    numbered = CitationStore([LABOR]).number(f"True {marker_of(LABOR)}. False [[deadbeefdeadbeef]].")
    assert numbered.text == "True [1]. False."
    assert numbered.unresolved == ("deadbeefdeadbeef",)


def test_of_the_text_around_markers_nothing_changes() -> None:
    text = f"„Pourquoi ?“, dit-il {marker_of(LABOR)} . git add . [[deadbeefdeadbeef]] [[deadbeefdeadbeed]]!"
    assert CitationStore([LABOR]).number(text).text == "„Pourquoi ?“, dit-il [1]. git add .!"


def test_merging_is_set_union() -> None:
    assert len(CitationStore([LABOR, FARMER, LABOR])) == 2
