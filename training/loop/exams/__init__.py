"""Exams: what scores a candidate and the present holder of its role, item by item, on the server where they serve."""
