"""What happens before a run: estimates, questions back, rubrics."""
