"""Running a benchmark: a folder per run that survives a kill, the judging, the report, the comparison of two runs."""
