"""The folders of trained models, by the digests of what is in them."""
