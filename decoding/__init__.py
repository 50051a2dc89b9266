"""Speculative decoding over one shared target model: draft models, Medusa, EAGLE, prompt lookup.

Greedy output is the target's own, token for token, whatever drafts; sampled output has the target's
distribution. The names below are the public interface; each loads its module when it is first used,
so that `import decoding` stays light.

>>> from transformers import AutoModelForCausalLM, AutoTokenizer
>>> from decoding import Decoder, DraftModel, Params, Target
>>> def load(part):
...     return Target(AutoModelForCausalLM.from_pretrained(f"assets/demo/{part}", dtype="float32"))
>>> target, draft = load("target"), load("draft")
>>> tokenizer = AutoTokenizer.from_pretrained("assets/demo/target")
>>> prompt = tokenizer("Once upon a time")["input_ids"]

One target pass gives one token without a drafter, and often several with one:

>>> plain, drafting = Decoder(target), Decoder(target, DraftModel(draft, target.vocab_size))
>>> params = Params(gamma=4, max_new_tokens=32)
>>> passes = [len(list(decoder.generate(prompt, params))) for decoder in (plain, drafting)]
>>> passes[1] < passes[0]
True
>>> drafting.generated == plain.generated
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decoding.decoder import Decoder as Decoder
    from decoding.drafters.base import DraftContext as DraftContext
    from decoding.drafters.base import Drafter as Drafter
    from decoding.drafters.draft_model import DraftModel as DraftModel
    from decoding.drafters.eagle import Eagle as Eagle
    from decoding.drafters.eagle import EagleTree as EagleTree
    from decoding.drafters.lookup import Lookup as Lookup
    from decoding.drafters.medusa import Medusa as Medusa
    from decoding.drafters.medusa_heads import MedusaHeads as MedusaHeads
    from decoding.drafters.suffix import Suffix as Suffix
    from decoding.drafters.universal import UniversalDraft as UniversalDraft
    from decoding.errors import InputError as InputError
    from decoding.model.self_test import self_test as self_test
    from decoding.model.target import Target as Target
    from decoding.params import Params as Params
    from decoding.params import SamplingParams as SamplingParams
    from decoding.round import Round as Round
    from decoding.stats import Stats as Stats
    from decoding.tokenizing.stopping import Stop as Stop
    from decoding.tokenizing.stopping import eos_ids as eos_ids
    from decoding.trees.draft import Draft as Draft
    from decoding.trees.draft import DraftTree as DraftTree

_MODULES = {
    "Decoder": "decoding.decoder",
    "Draft": "decoding.trees.draft",
    "DraftContext": "decoding.drafters.base",
    "Drafter": "decoding.drafters.base",
    "DraftModel": "decoding.drafters.draft_model",
    "DraftTree": "decoding.trees.draft",
    "Eagle": "decoding.drafters.eagle",
    "EagleTree": "decoding.drafters.eagle",
    "eos_ids": "decoding.tokenizing.stopping",
    "InputError": "decoding.errors",
    "Lookup": "decoding.drafters.lookup",
    "Medusa": "decoding.drafters.medusa",
    "MedusaHeads": "decoding.drafters.medusa_heads",
    "Params": "decoding.params",
    "Round": "decoding.round",
    "SamplingParams": "decoding.params",
    "self_test": "decoding.model.self_test",
    "Stats": "decoding.stats",
    "Stop": "decoding.tokenizing.stopping",
    "Suffix": "decoding.drafters.suffix",
    "Target": "decoding.model.target",
    "UniversalDraft": "decoding.drafters.universal",
}
__all__ = tuple(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'decoding' has no attribute '{name}'")
    return getattr(import_module(_MODULES[name]), name)
