"""Pages of HTML and plots of SVG, for everything that evaluates, makes sets or trains."""
