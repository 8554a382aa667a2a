"""Parts of a page. A function named `*_html` makes HTML from data and draws nothing."""
