"""The specchat command and its terminal app, built on the `decoding` library."""
