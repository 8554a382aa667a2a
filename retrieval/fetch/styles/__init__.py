"""The styles that a page states, as a browser on a usual screen applies them."""
