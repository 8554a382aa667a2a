"""Training recipes: each a folder with its data, its reward, its trainer, and its values at toy size and as in the papers."""
