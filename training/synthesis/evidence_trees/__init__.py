"""Evidence trees, and the query with rubric that is made of each (DeepRubric sections 3.1 and 3.2, Algorithm 1).

`topics.py` draws seed topics, `growth.py` grows a tree, `merging.py` merges it, `checks.py` checks the result, `making.py` is the
way of one topic, `set_recipe.py` that of a set, and `statistics.py` counts it.
"""
