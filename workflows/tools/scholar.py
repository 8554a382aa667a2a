"""`scholar` over the scientific corpus and scholarly services. Absent where neither is configured."""

from workflows.tools.search import SearchTool


class ScholarTool(SearchTool):
    """Passages of scientific papers for a query, best first."""

    name = "scholar"
    description = "Search scientific papers; returns the passages that fit the query best."
