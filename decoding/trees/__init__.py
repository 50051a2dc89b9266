"""Draft trees: their shape (no torch), and the tokens that a drafter puts on it."""
