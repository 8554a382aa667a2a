"""Parts of a page. Those that make HTML are plain functions from data to text."""
