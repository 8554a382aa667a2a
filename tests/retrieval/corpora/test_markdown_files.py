"""Markdown files: what their front matter states, and what raised or struck text says."""

import pytest

from retrieval.corpora.markdown import read_markdown


@pytest.mark.parametrize(
    "front",
    [
        '+++\ntitle = "The quay"\nauthor = "Ida"\ndate = 1951-06-01\n+++\n',
        '+++\r\ndate = 1951-06-01T10:00:00Z\r\ntitle = """The quay"""\r\nauthor = \'Ida\'\r\n[extra]\r\ntitle = "no"\r\n+++\r\n',
        "---\ntitle: The quay\nauthor: 'Ida'\ndate: 1951-06-01\n---\n",
        "---\ntitle: >\n  The\n  quay\nauthor:\n- name: Ida\n  email: i@senn\ndate: 1951-06-01\n---\n",
        "---\ntitle: |\n  The quay\nauthor: [Ida]\nabout: |\n  title: no\n\n  author: Bo\ndate: 1951-06-01\n---\n",
        "---\ntitle: The quay\nsub: a: b\nauthor: Ida\ndate: 1951-06-01\n---\n",
        "% The\n  quay\n% Ida\n% 1 June 1951\n",
        '{\n  "title": "The quay",\n  "author": "Ida",\n  "date": "1951-06-01",\n  "tags": {}\n}\n',
        ';;;\n{"title": "The quay", "author": "Ida", "date": "1951-06-01"}\n;;;\n',
        "---yaml\ntitle: The quay\nauthor: Ida\ndate: 1951-06-01\n---\n",
        '---\nTitle: "The quay"\nAuthor: Ida\nDate: 1 June 1951\n...\n',
    ],
)
def test_front_matter_states_title_author_and_date(front: str) -> None:
    found = read_markdown(f"{front}\nIt is let.".encode())
    assert (found.text, found.title, found.author, str(found.published)) == ("It is let.", "The quay", "Ida", "1951-06-01")


def test_authors_and_texts_between_lines_are_kept() -> None:
    assert read_markdown(b"---\nauthor:\n  - Ida\n  - Bo\n---\nLet.").author == "Ida; Bo"
    assert read_markdown(b"---\nThe quay is let.\n\n---\nTo Ida.").text == "The quay is let.\n\nTo Ida."
    found = read_markdown(b"% 5 % of tolls\n\nIt is let.")
    assert (found.title, found.author, found.text) == ("5 % of tolls", "", "It is let.")


def test_an_empty_field_does_not_take_the_next_one() -> None:
    found = read_markdown(b"---\ntitle:\nauthor: Ida\n---\nIt is let.")
    assert (found.title, found.author) == ("", "Ida")


def test_broken_front_matter_states_nothing_and_is_no_text() -> None:
    found = read_markdown(b"+++\ntitle = \n+++\n# The quay\n")
    assert (found.text, found.title) == ("The quay", "The quay")


def test_front_matter_that_repeats_itself_ends() -> None:
    doubled = "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))
    front = f"---\na0: &a0 x\n{doubled}\nauthor: *a39\ntitle: Fields\n---\n\nText."
    found = read_markdown(front.encode())
    assert (found.title, found.author, found.text) == ("Fields", "", "Text.")


def test_raised_and_struck_text() -> None:
    found = read_markdown(
        b"It has 10<sup>6</sup> cells & H<sub>2</sub>O at ~~seven~~ <del>six</del> five.\nIn *1951*<sup>[3]</sup> <3."
    )
    assert found.text == "It has 10^6 cells & H2O at five.\nIn 1951 <3."
