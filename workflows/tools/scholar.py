"""`scholar`: search of the scientific corpus and scholarly services. It is absent where neither is configured."""

from workflows.tools.search import SearchTool


class ScholarTool(SearchTool):
    """Searches passages of scientific papers for a query, best first."""

    name = "scholar"
    description = "Search scientific papers; returns the passages that fit the query best."
