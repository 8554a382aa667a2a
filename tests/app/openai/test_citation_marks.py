from app.openai.citations import cite_sources

SOURCE = {"url": "https://example.org/1", "title": "Message"}


def test_a_number_within_code_is_no_citation() -> None:
    text = "Duties burden the farmer [1]. Take `argv[1]`.\n\n```\nargv[1]\n```"
    assert [text[cited.start_index - 7 : cited.end_index] for cited in cite_sources(text, {1: SOURCE})] == ["farmer [1]"]
