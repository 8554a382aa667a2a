"""What decides whether a trained model becomes a candidate. Pure: no torch, no network, no clock."""
