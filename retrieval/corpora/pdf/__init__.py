"""The reader of PDF files: pieces of text with their place, then lines, columns, running heads and paragraphs."""
