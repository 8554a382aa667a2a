"""Collect readers' questions for a benchmark, under pseudonyms: only those whose asker and organisation consent now."""

import asyncpg

from app.domain.benchmark import CandidateQuestion
from app.domain.query import ResearchQuery
from app.preferences.service.pseudonyms import Pseudonyms
from app.preferences.storage import asked_questions


async def consented_questions(database: asyncpg.Pool, names: Pseudonyms) -> dict[str, CandidateQuestion]:
    """Return the questions by pseudonym, oldest first; the same wording once.

    Raises:
        Unavailable: the database does not answer.
    """
    found: dict[str, CandidateQuestion] = {}
    wordings: set[str] = set()
    async for row in asked_questions.read_questions(database):
        query = ResearchQuery.of_any_version(row["query"])
        wording = " ".join(query.question.casefold().split())
        if wording not in wordings:
            wordings.add(wording)
            name = names.of("question", row["id"])
            asked_on = row["created_at"].date()
            found[name] = CandidateQuestion(id=name, question=query.question, language=query.language, asked_on=asked_on)
    return found
