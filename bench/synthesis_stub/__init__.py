"""Models that make training sets as their prompts ask, by taking words out of what they are shown, and disobey when told to."""
