"""The date of a document: in its title or name, or where its first and last lines state it as its own."""

from datetime import date

import pytest

from retrieval.language.document_date import find_date_in_name, find_date_in_text
from retrieval.language.written_dates import find_written_dates


@pytest.mark.parametrize(
    "written",
    [
        "14 January 2025",
        "14th of January, 2025",
        "January 14, 2025",
        "Jan. 14, 2025",
        "2025-01-14",
        "2025/01/14",
        "14.01.2025",
        "20250114",
        "14. Januar 2025",
        "14 janvier 2025",
        "2025年1月14日",
        "二〇二五年一月十四日",
    ],
)
def test_a_day_is_read_in_every_way_of_writing_it(written: str) -> None:
    assert [found.day for found in find_written_dates(f"x {written} y")] == [date(2025, 1, 14)]


@pytest.mark.parametrize(
    "written", ["03/04/2024", "in 2024", "14 of 2025", "2025-13-40", "202501141", "version 2.10.2024.5", "may 5"]
)
def test_what_is_no_date_or_one_of_unknown_order_is_not_read(written: str) -> None:
    assert list(find_written_dates(written)) == []


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Minutes 2024-03-05", date(2024, 3, 5)),
        ("board_minutes_20240305", date(2024, 3, 5)),
        ("Report_March_2024", date(2024, 3, 1)),
        ("2024-03 report", date(2024, 3, 1)),
        ("会议纪要2024年3月5日", date(2024, 3, 5)),
        ("From 2023-11-01 to 2024-02-01", None),
        ("Budget 2025", None),
        ("The 2019-20 season", None),
    ],
)
def test_a_name_has_the_date_that_it_states(name: str, day: date | None) -> None:
    assert find_date_in_name(name) == day


def test_the_title_goes_before_the_name_of_the_file() -> None:
    assert find_date_in_name("Minutes of 5 May 2023", "scan_20240101") == date(2023, 5, 5)
    assert find_date_in_name("Minutes", "scan_20240101") == date(2024, 1, 1)


BODY = "\n\n" + "The parties agreed on much. It was cold on 1 January 1999, they said. " * 60 + "\n\n"


@pytest.mark.parametrize(
    ("head", "day"),
    [
        ("Date: 3 March 2024", date(2024, 3, 3)),
        ("Lease\n\nSigned on 14 January 2025 in Bern.", date(2025, 1, 14)),
        ("Meeting of 5 May 2023\n\nPresent: A, B", date(2023, 5, 5)),
        ("Minutes of the meeting of the board held on 5 May 2023", date(2023, 5, 5)),
        ("ACME Ltd\n12 High Street\n\nLondon, 3 March 2024\n\nDear Sir,", date(2024, 3, 3)),
        ("Berlin, den 3. März 2024", date(2024, 3, 3)),
        ("Monday, 5 May 2023", date(2023, 5, 5)),
        ("3 March 2024\n\nYour letter of 12 February 2024", date(2024, 3, 3)),
        ("日期：2024年3月5日", date(2024, 3, 5)),
        ("会议时间：2024年3月5日上午", date(2024, 3, 5)),
        ("Date of birth: 5 May 1950", None),
        ("The law was adopted on 3 March 1998 by both houses.", None),
        ("Deadline: 1 June 2027", None),
        ("The meeting takes place on 14 September 2025.", None),
        ("会议将于2025年9月14日举行", None),
        ("Board meeting, 5 May 2023", date(2023, 5, 5)),
        ("1 May 2020\n2 May 2020\n3 May 2020\n4 May 2020\n5 May 2020", None),
        ("On 3 March 1998", None),
    ],
)
def test_the_first_lines_state_the_date_of_a_document(head: str, day: date | None) -> None:
    assert find_date_in_text(head + BODY) == day


def test_a_contract_has_the_date_under_its_text() -> None:
    assert find_date_in_text("Lease" + BODY + "Bern, 14 January 2025\n\nA. Meier") == date(2025, 1, 14)
    assert find_date_in_text("Lease" + BODY + "It ends on 14 January 2030.") is None
