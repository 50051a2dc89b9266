"""The screens of the terminal app."""
