"""The parts of schedules: questions that are asked again and again."""
