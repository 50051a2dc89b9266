"""Draft trees: their shape (no torch), and the drafted tokens."""
