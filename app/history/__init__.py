"""Recorded conversations: their log, reopening, export and replay."""
