"""Shards a frozen target among several processes, each of which trains a whole drafter."""

from __future__ import annotations

from accelerate import PartialState
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import PreTrainedModel

from decoding.errors import InputError
from decoding.training.draft_attach import layers_of


def shard_layers(target: PreTrainedModel) -> None:
    """Shard the layers' weights among the processes (FSDP2); those of a layer are gathered while it
    runs. Embedding and lm_head, which heads read directly, stay whole.

    All processes must run the target equally often. Raises InputError if there is only one.
    """
    kind = target.device.type
    PartialState(cpu=kind == "cpu")  # joins the processes, as the Trainer would later
    if not distributed.is_initialized():
        raise InputError("--shard divides the target among processes: start several by torchrun")
    mesh = init_device_mesh(kind, (distributed.get_world_size(),))
    for layer in layers_of(target)[1]:
        fully_shard(layer, mesh=mesh, reshard_after_forward=True)
