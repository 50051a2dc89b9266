"""A frozen target divided among several processes, while each has the whole of what it trains."""

from __future__ import annotations

from accelerate import PartialState
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import PreTrainedModel

from decoding.errors import InputError
from decoding.training.draft_attach import layers_of


def shard_layers(target: PreTrainedModel) -> None:
    """Leave each process its part of the layers' weights (FSDP2): those of a layer are gathered
    while it is computed. Embedding and lm_head, which heads read themselves, stay whole.

    All processes must run the target equally often. Raises InputError where there is only one.
    """
    kind = target.device.type
    PartialState(cpu=kind == "cpu")  # joins the processes, as the Trainer would later
    if not distributed.is_initialized():
        raise InputError("--shard divides the target among processes: start several by torchrun")
    mesh = init_device_mesh(kind, (distributed.get_world_size(),))
    for layer in layers_of(target)[1]:
        fully_shard(layer, mesh=mesh, reshard_after_forward=True)
