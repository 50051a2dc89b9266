"""One file per drafter; all follow the protocol in `base`."""
