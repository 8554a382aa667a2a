"""What a person does at a report, step by step, in a real browser: for tests and for the pictures of the docs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def write_second_report(page: "Page") -> None:
    """Have a second report written over the same evidence, with the quotations by date."""
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_text("Compare", exact=True).last.click()
    way = page.get_by_role("option", name="By quoting, by date")
    while not way.count():  # the list closes when the form around it is still unfolding
        page.get_by_role("combobox", name="How is the second").click()
        page.wait_for_timeout(1_000)
    way.click()
    page.get_by_role("button", name="Write it").click()


def ask_further_systems(page: "Page") -> None:
    """Have two further systems work the same question, and wait for the three reports."""
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_text("Other systems", exact=True).click()
    for system in ("MaMs", "ReAct"):
        page.get_by_role("button", name=system).click()
    page.get_by_role("button", name="Ask them too").click()
    page.locator("article").nth(2).wait_for()


def judge_side_by_side(page: "Page") -> None:
    """Have the reports judged by the same criteria, and wait until all are."""
    page.get_by_role("button", name="Judge them by the same criteria").click()
    page.get_by_text("All are judged by the same criteria.").wait_for()
    page.get_by_text("being judged").first.wait_for(state="hidden")
