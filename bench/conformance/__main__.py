"""`python -m bench.conformance [NAME ...]` (`make conformance`): run the suites whose names have one of these words, or all.

It prints a table with run, passed, skipped and failed by suite, and ends with 1 where a check failed. docs/conformance.md tells
what is out, and why.
"""

import argparse
import sys
import time

from bench.conformance.exports import check_exports
from bench.conformance.markdown import check_markdown
from bench.conformance.mcp_client import check_mcp_client
from bench.conformance.mcp_server import PACKAGE, check_mcp_server
from bench.conformance.open_responses import check_open_responses, report_suite_out
from bench.conformance.openapi import check_openapi
from bench.conformance.outcome import NotRun, Suite
from bench.conformance.packages import fetch_suites, find_folder, find_version
from bench.conformance.pages import check_pages
from bench.conformance.table import Row, list_figures, write_table
from bench.conformance.webhooks import check_webhooks
from bench.result import print_result

SUITES = (
    Suite("Standard Webhooks", find_version("standardwebhooks"), check_webhooks),
    Suite("CommonMark", find_version("commonmark-spec"), check_markdown),
    Suite("exports, read back", "", check_exports),
    Suite("Open Responses, its suite", "", report_suite_out),
    Suite("Open Responses, its schema", find_version("openresponses-types"), check_open_responses),
    Suite("MCP, our server", find_version(PACKAGE), check_mcp_server),
    Suite("MCP, our client", find_version(PACKAGE), check_mcp_client),
    Suite("axe-core, every page", find_version("axe-core"), check_pages),
    Suite("schemathesis", find_version("schemathesis"), check_openapi),
)


def main() -> int:
    """Run the suites and print the table; return 1 where a check failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="words of the names of suites")
    wanted = [name.lower() for name in parser.parse_args().names]
    folder = find_folder()
    if missing := fetch_suites(folder):
        print(f"not fetched: {missing}", flush=True)
    rows = []
    for suite in SUITES:
        if not wanted or any(name in suite.name.lower() for name in wanted):
            started = time.perf_counter()
            try:
                rows.append(Row(suite.name, suite.version, suite.check(folder)))
            except NotRun as reason:
                rows.append(Row(suite.name, suite.version, None, str(reason)))
            print(f"{suite.name}: {time.perf_counter() - started:.0f} s", flush=True)
    print("", *write_table(rows), sep="\n", flush=True)
    figures = list_figures(rows)
    print_result("conformance", figures)
    return int(figures["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
