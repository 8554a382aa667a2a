"""The parts of finished reports: their versions, their rendering, and findings in their evidence."""
