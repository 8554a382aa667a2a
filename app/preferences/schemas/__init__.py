"""What goes in and out over HTTP of preferences."""
