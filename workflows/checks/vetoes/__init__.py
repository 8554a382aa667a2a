"""What keeps a claim from full support: a name, number, date, quantity, hedge, negation or direction that differs.

`veto.py` is the door. The lists of words are data, in English and Chinese.
"""
