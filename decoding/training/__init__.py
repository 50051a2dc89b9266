"""Trains drafters on the target's own answers (self-distillation): Medusa heads, EAGLE heads, draft
models. The names below, `distill.distill` and `quantize.quantize` are the public interface, which
`specchat heads` uses.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from transformers import AutoModelForCausalLM, AutoTokenizer
>>> from decoding import Decoder, Medusa, Params, Target
>>> from decoding.training import Conversations, TrainConfig, attach_medusa, read_sources
>>> from decoding.training import train_medusa
>>> from decoding.training.distill import distill
>>> folder = TemporaryDirectory()
>>> work = Path(folder.name)
>>> model = AutoModelForCausalLM.from_pretrained("assets/demo/target", dtype="float32")
>>> tokenizer = AutoTokenizer.from_pretrained("assets/demo/target")

The target answers prompts, and new heads are trained on its answers and saved:

>>> prompts = [([], [f"Tell me about {what}."]) for what in ("tea", "milk", "bread", "a dog")]
>>> distill(model, tokenizer, prompts, work / "answers.jsonl", Params(max_new_tokens=16))
4
>>> answers = Conversations(read_sources([str(work / "answers.jsonl")]), tokenizer, length=256)
>>> untrained = attach_medusa(model, heads=2, layers=1)
>>> config = TrainConfig(steps=2, batch_size=2)
>>> heads = train_medusa(model, untrained, answers, answers, config, work / "training")
>>> heads.save_pretrained(work / "heads")

They draft for the target:

>>> target = Target(model)
>>> decoder = Decoder(target, Medusa.from_pretrained(work / "heads", target))
>>> prompt = tokenizer("Once upon a time")["input_ids"]
>>> rounds = list(decoder.generate(prompt, Params(max_new_tokens=16)))
>>> sum(record.drafted for record in rounds) > 0
True
>>> folder.cleanup()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decoding.training.conversations import Conversations as Conversations
    from decoding.training.data import read_sources as read_sources
    from decoding.training.draft import train_draft as train_draft
    from decoding.training.draft_attach import attach_draft as attach_draft
    from decoding.training.eagle import train_eagle as train_eagle
    from decoding.training.eagle_attach import attach_eagle as attach_eagle
    from decoding.training.evaluate import answer_prompts as answer_prompts
    from decoding.training.evaluate import stats_of as stats_of
    from decoding.training.medusa import train_medusa as train_medusa
    from decoding.training.medusa_attach import attach_medusa as attach_medusa
    from decoding.training.train_config import TrainConfig as TrainConfig

_MODULES = {
    "Conversations": "conversations",
    "TrainConfig": "train_config",
    "answer_prompts": "evaluate",
    "attach_draft": "draft_attach",
    "attach_eagle": "eagle_attach",
    "attach_medusa": "medusa_attach",
    "read_sources": "data",
    "stats_of": "evaluate",
    "train_draft": "draft",
    "train_eagle": "eagle",
    "train_medusa": "medusa",
}
__all__ = tuple(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'decoding.training' has no attribute '{name}'")
    return getattr(import_module(f"decoding.training.{_MODULES[name]}"), name)
