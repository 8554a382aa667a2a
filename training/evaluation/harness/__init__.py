"""The evaluation harness: a folder for each run that survives a kill, judging, reports, and the comparison of two runs."""
