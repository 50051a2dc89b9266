"""Conversations that stay: recorded while they happen, reopened, exported, replayed."""
