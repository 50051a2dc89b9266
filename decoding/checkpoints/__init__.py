"""Reads heads in every common dialect, and writes the useful ones."""
