"""The specchat command and its terminal app, built on the `decoding` library."""

import logging

# transformers imports torchao where it is installed, which then warns about missing kernels.
for _name in ("torchao", "torch.utils._pytree"):
    logging.getLogger(_name).setLevel(logging.ERROR)
