"""What readers prefer, over HTTP: rating, flagging, consent, annotation, votes."""
