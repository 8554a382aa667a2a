"""Do the work of `rubrica eval build`."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import typer

from app.domain.benchmark import CandidateQuestion, Decision, QuestionDomain, Review, Screening
from app.domain.errors import InvalidInput
from app.preferences.service.asked_questions import consented_questions
from app.preferences.service.pseudonyms import KEY_FILE, Pseudonyms, read_key
from app.settings import Settings
from infra.cli.execute import say
from infra.cli.worker_database import open_worker_pool
from infra.local.home import Home
from training.decontamination.public_sets import read_public_sets
from training.evaluation.builder.publishing import publish as write
from training.evaluation.builder.queue import ReviewQueue, is_reviewable
from training.evaluation.builder.screening import screen as look
from training.evaluation.harness.models import ModelFiles, open_models

ACCEPT, REJECT, EDIT, SKIP, QUIT = "a", "r", "e", "s", "q"


async def collect(settings: Settings, folder: Path, since: date, key_file: Path | None) -> int:
    """Bring the queue up to date with what people agree to."""
    queue = _open_queue(folder)
    consented, _ = await _read_consented(settings, key_file)
    came, went = queue.collect(consented, since)
    print(f"{came} questions came, {went} went, {len(queue.read_candidates())} are there")
    return 0


async def screen(settings: Settings, folder: Path, model_file: Path | None, at_once: int) -> int:
    """Ask the model about the new questions. Return 1 when some of its answers cannot be used."""
    queue = _open_queue(folder)
    async with open_models(settings, ModelFiles(model_file)) as models:
        asked = await look(settings, queue, models, at_once, _say_screening)
    found = queue.read_screenings().values()
    print(f"{asked} asked about; {sum(map(is_reviewable, found))} of {len(found)} wait for experts")
    return 1 if any(screening.missing for screening in found) else 0


def review(folder: Path, reviewer: str) -> int:
    """Show one question after the other, until none is left or the expert quits."""
    queue = _open_queue(folder)
    screenings = queue.read_screenings()
    waiting = queue.list_waiting(reviewer)
    for number, candidate in enumerate(waiting, 1):
        found = screenings[candidate.id]
        print(f"\n[{number}/{len(waiting)}] {candidate.question}\n  {found.domain.value}, depth {found.depth}: {found.reason}")
        decided = _ask_decision(candidate, found, reviewer)
        if decided is None:
            break
        if isinstance(decided, Review):
            queue.keep_review(decided)
    print(f"{len(queue.list_waiting(reviewer))} left for {reviewer}")
    return 0


async def publish(
    settings: Settings, folder: Path, out: Path, against: Sequence[str], reviews: int, key_file: Path | None
) -> int:
    """Write the next version and print what is in it."""
    queue = _open_queue(folder)
    public, counts = read_public_sets(against)
    consented, names = await _read_consented(settings, key_file)
    made = write(queue, consented, public, counts, out, reviews, datetime.now(UTC), names.fingerprint)
    print(f"{out / f'v{made.version}'}: {made.items} questions in {len(made.domains)} domains")
    print(f"left out because a public set has them: {sum(made.known.values())}; withdrawn since: {len(made.withdrawn)}")
    return 0


def _ask_decision(candidate: CandidateQuestion, found: Screening, reviewer: str) -> Review | bool | None:
    """Ask the expert. Return the review, False to skip the question, or None to quit."""
    while True:
        choice = typer.prompt("accept, reject, edit, skip or quit (a/r/e/s/q)").strip().lower()[:1]
        if choice == QUIT:
            return None
        if choice == SKIP:
            return False
        if choice == REJECT:
            note = typer.prompt("why", default="", show_default=False)
            return Review(id=candidate.id, reviewer=reviewer, decision=Decision.REJECT, note=note)
        if choice in (ACCEPT, EDIT):
            wording = typer.prompt("wording") if choice == EDIT else ""
            domain = _parse_domain(typer.prompt("domain", default=found.domain.value))
            return Review(id=candidate.id, reviewer=reviewer, decision=Decision.ACCEPT, question=wording, domain=domain)


def _parse_domain(text: str) -> QuestionDomain:
    if text.strip().lower() not in [*QuestionDomain]:
        raise InvalidInput(f"{text!r} is no domain; there are {', '.join(QuestionDomain)}")
    return QuestionDomain(text.strip().lower())


async def _read_consented(settings: Settings, key_file: Path | None) -> tuple[dict[str, CandidateQuestion], Pseudonyms]:
    home = Home(settings.home)
    async with open_worker_pool(settings, home) as pool:
        names = Pseudonyms(read_key(key_file or home.root / KEY_FILE))
        return await consented_questions(pool, names), names


def _open_queue(folder: Path) -> ReviewQueue:
    queue = ReviewQueue(folder)
    queue.open()
    return queue


def _say_screening(screening: Screening) -> None:
    say(f"{screening.id}: {screening.missing or ('for experts' if is_reviewable(screening) else 'left out')}")
