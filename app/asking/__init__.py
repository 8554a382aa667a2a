"""The parts of asking before a run: estimates, questions back, rubrics."""
