"""Heads on disk, in every dialect that users have. Read all of them, write the useful ones."""
