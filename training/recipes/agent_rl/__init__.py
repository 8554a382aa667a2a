"""Training of whole research agents by the rubrics of their questions (DeepRubric 3.3, Query-Specific Rubrics 3.4)."""
