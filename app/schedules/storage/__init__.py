"""The statements of schedules."""
