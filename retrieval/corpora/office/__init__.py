"""Readers of Word, PowerPoint and Excel files (since 2007), from their XML: libraries leave out what their readers see."""
