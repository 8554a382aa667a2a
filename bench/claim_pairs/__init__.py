"""Claims whose truth is known: falsehoods and honest paraphrases of sentences of any corpus, in English and Chinese.

`generate.py` makes them, `pairs.py` is their form. Benches measure judges of claims with them.
"""
