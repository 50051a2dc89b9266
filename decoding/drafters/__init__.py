"""One file a strategy, all behind the protocol in `base`."""
