"""Evidence trees, and the query with rubric that is made of each (DeepRubric sections 3.1 and 3.2, Algorithm 1).

`topics.py` draws seed topics, `growth.py` grows a tree, `merging.py` merges it, `checks.py` checks the result, `making.py` is the
whole of it, and `statistics.py` counts a set.
"""
