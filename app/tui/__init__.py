"""The terminal app. Nothing here imports torch: the first frame is painted before it loads."""
