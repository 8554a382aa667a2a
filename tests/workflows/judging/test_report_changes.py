"""What a reader of a living report is told: what is new, what is gone, which old claims no longer hold. And nothing else."""

from app.domain.changes import FallReason
from app.domain.claims import Claim, Support
from app.domain.evidence import Quote, Source, snapshot_hash
from app.domain.report import Report, Section
from workflows.judging.report_changes import compare_reports

BUDGET = "The harbour's budget for 2025 is 12 million euros, as the council decided in March."
PILOTS = "Four pilots serve the harbour of Lund by day and by night."
DREDGED = "The harbour basin was dredged to a depth of nine metres in 2019."
FERRY = "A ferry line to the island opened in May and sails twice a day."
RAISED = "The harbour's budget for 2025 is 17 million euros, as the council decided in March."


def quote(url: str, text: str, page: str) -> Quote:
    start = page.index(text)
    return Quote(source=Source(url=url, title=url, snapshot=snapshot_hash(page)), text=text, start=start, end=start + len(text))


def report(*quotes: Quote) -> Report:
    """One claim a quote, in the quote's words."""
    body = " ".join(f"{quote.text} [[{quote.key}]]" for quote in quotes)
    claims = tuple(
        Claim(text=q.text, section=0, start=0, end=len(q.text), quote_keys=(q.key,), support=Support.FULL) for q in quotes
    )
    return Report(title="The harbour", sections=(Section(heading="It", body=body),), quotes=quotes, claims=claims)


def test_nothing_has_changed_when_the_same_words_stand_in_the_same_places() -> None:
    page = f"{BUDGET} {PILOTS}"
    grown = f"A new heading.\n\n{BUDGET} {PILOTS} The weather was fine."
    old, new = report(quote("a", BUDGET, page)), report(quote("a", BUDGET, grown))
    assert compare_reports(old, new, new.quotes, {"a": grown}).is_empty
    # Other words for the same evidence are no news either.
    claim = new.claims[0].model_copy(update={"text": "In March the council set 12 million euros aside for the harbour in 2025."})
    assert compare_reports(old, new.model_copy(update={"claims": (claim,)}), new.quotes, {"a": grown}).is_empty
    # Nor is it that a page did not come this time, of which nobody knows whether it is gone.
    assert compare_reports(report(quote("a", BUDGET, page), quote("b", PILOTS, PILOTS)), new, new.quotes, {"a": grown}).is_empty
    # Nor that the new report leaves out what still stands.
    assert compare_reports(report(quote("a", BUDGET, page), quote("a", PILOTS, page)), new, new.quotes, {"a": grown}).is_empty


def test_each_sort_of_change_is_told_with_the_words_of_both_sides() -> None:
    was, now = f"{BUDGET} {PILOTS}", f"{RAISED} {PILOTS}"
    old = report(quote("budget", BUDGET, was), quote("budget", PILOTS, was), quote("depth", DREDGED, DREDGED))
    new = report(quote("budget", RAISED, now), quote("budget", PILOTS, now), quote("ferry", FERRY, FERRY))
    changes = compare_reports(old, new, new.quotes, {"budget": now, "depth": None})
    assert [source.url for source in changes.new_sources] == ["ferry"]
    assert [source.url for source in changes.vanished_sources] == ["depth"]
    assert not changes.passages, "what changed is told once, where the claim falls"
    budget, depth = changes.fallen
    assert (budget.claim, budget.before[0].text, budget.after[0].text) == (BUDGET, BUDGET, RAISED)
    assert budget.why in (FallReason.CHANGED, FallReason.OPPOSED)
    assert not budget.support.holds
    assert (depth.claim, depth.why, depth.after) == (DREDGED, FallReason.GONE, ())
    assert not depth.support.holds
    assert [claim.claim for claim in changes.new_claims] == [FERRY]


def test_a_changed_row_of_a_file_is_one_change() -> None:
    was, now = "Berlin | 3,645,000 people | mayor Kai Wegner | 2023", "Berlin | 3,780,000 people | mayor Ines Sommer | 2025"
    old_row, new_row = quote("cities.csv", was, was), quote("cities.csv", now, now)
    old = table_report(old_row, "3,645,000 people", "mayor Kai Wegner")
    new = table_report(new_row, "3,780,000 people", "mayor Ines Sommer")
    changes = compare_reports(old, new, new.quotes, {"cities.csv": now})
    (fallen,) = changes.fallen
    assert fallen.claim == "City: Berlin; People: 3,645,000 people; Mayor: mayor Kai Wegner"
    assert ([shown.text for shown in fallen.before], [shown.text for shown in fallen.after]) == ([was], [now])
    assert changes.model_copy(update={"fallen": ()}).is_empty


def table_report(row: Quote, *cells: str) -> Report:
    """A table of one row, with a claim in each cell but the first."""
    body = f"| City | People | Mayor |\n|---|---|---|\n| Berlin | {' | '.join(cells)} [[{row.key}]] |"
    places = [(cell, body.index(cell)) for cell in cells]
    claims = tuple(
        Claim(text=cell, section=0, start=at, end=at + len(cell), quote_keys=(row.key,), support=Support.FULL)
        for cell, at in places
    )
    return Report(title="Cities", sections=(Section(heading="It", body=body),), quotes=(row,), claims=claims)


def test_a_claim_whose_source_is_gone_holds_while_another_source_says_it() -> None:
    old = report(quote("first", DREDGED, DREDGED))
    elsewhere = quote(
        "second",
        "In 2019 the harbour basin was dredged to a depth of nine metres.",
        "In 2019 the harbour basin was dredged to a depth of nine metres.",
    )
    changes = compare_reports(old, report(elsewhere), [elsewhere], {"first": None})
    assert not changes.fallen
    assert [source.url for source in changes.vanished_sources] == ["first"]


def test_a_claim_that_still_stands_falls_when_new_evidence_opposes_it() -> None:
    old = report(
        quote("a", "The lease of the warehouse was extended in 2024.", "The lease of the warehouse was extended in 2024.")
    )
    against = "The lease of the warehouse was not extended in 2024."
    opposing = quote("b", against, against)
    changes = compare_reports(old, report(*old.quotes, opposing), [opposing], {"a": old.quotes[0].text})
    assert [(claim.why, claim.after[0].text) for claim in changes.fallen] == [(FallReason.OPPOSED, against)]
    assert not changes.passages


def test_a_claim_in_chinese_falls_when_new_evidence_opposes_it() -> None:
    said, against = "该仓库的租约在2024年得到延长。", "该仓库的租約在2024年没有得到延长。"
    beside = [quote(f"{n}", text, text) for n, text in enumerate(("渡轮每天往返两次。", "港口有四名引航员。"))]
    old, opposing = report(quote("a", said, said)), quote("b", against, against)
    changes = compare_reports(old, report(*old.quotes, opposing), [*beside, opposing], {"a": said})
    assert [(claim.why, claim.after[0].text) for claim in changes.fallen] == [(FallReason.OPPOSED, against)]
