"""Turn a new run into a question, with the collections that fit it where the run names none."""

from app.collections.service.suggestions import Suggestions
from app.domain.query import ResearchQuery
from app.runs.schemas import NewRun


async def choose_sources(new: NewRun, suggestions: Suggestions) -> ResearchQuery:
    """Return the run's question with its collections.

    Raises:
        InvalidInput: the question is not acceptable, or wants sources that are not set up here.
    """
    query = new.to_query()
    suggestions.check_sources(query)
    return await suggestions.add_fitting(query) if new.takes_suggestions else query
