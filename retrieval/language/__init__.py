"""Words of English and Chinese texts: tokens, stop words, stems, sentences, numbers, periods, dates and names.

One module stands for one idea, and its word lists stand beside it. Whatever compares texts builds on these, so that a word is the
same word in a search, in a check and in a score.
"""
