"""Stand-ins for models that make training sets: they obey their prompts, or break them in named ways."""
