"""Request and response bodies of the registry of trained models, and how they are made from its nouns."""
