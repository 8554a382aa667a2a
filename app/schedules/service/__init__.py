"""The use cases of schedules."""
