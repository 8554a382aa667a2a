"""Questions of one to five hops over a graph of a corpus, with everything that code needs to check them (MindDR 4.1, 4.5)."""
