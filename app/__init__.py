"""The specchat command and its terminal app, built on the `decoding` library."""

import logging

for _name in ("torchao", "torch.utils._pytree"):  # where it is installed transformers imports it
    logging.getLogger(_name).setLevel(logging.ERROR)  # and it warns of what it was not built for
