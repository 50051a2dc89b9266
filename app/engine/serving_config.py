"""What was measured, in terms of serving engines: the facts of a lane and its models."""

from __future__ import annotations

from app.engine.lane import Lane
from app.models.loaded import LoadedModels
from app.report.advice_document import Candidate
from app.report.engines import ServingConfig
from decoding.drafters.eagle import EagleTree, default_tree
from decoding.drafters.eagle_head import EagleHead


def serving_config(candidate: Candidate, lane: Lane, loaded: LoadedModels) -> ServingConfig:
    """Describe a candidate for the configurations of serving engines. `loaded`: the models of all
    lanes."""
    models, params = lane.models, candidate.params
    role = candidate.strategy.role or ""
    head = models.drafters.get(role)
    other_tokenizer = role == "draft" and models.draft_tokenizer is not None
    drafts = "" if role != "draft" or other_tokenizer else models.notes.get(role, "")
    changed = (
        ("the target", loaded.notes.get("target", "")),
        ("the draft model", drafts),
        ("typical acceptance", "which is lossy" if candidate.lossy else ""),
        ("gamma", "chosen for each round" if params.gamma == "auto" else ""),
    )
    options = models.options
    verified = candidate.stats.nodes_per_pass or 1.0
    tree = EagleTree()
    if isinstance(head, EagleHead):
        tree = default_tree(head.config.settings, models.target.device, models.verify_cost)
    return ServingConfig(
        target=models.name,
        strategy=candidate.strategy,
        gamma=params.gamma if isinstance(params.gamma, int) else lane.default_gamma,
        top_k=params.eagle_top_k or tree.top_k,
        nodes=params.eagle_total_tokens or max(round(verified), 2),
        source=options.drafters.get(role, ""),
        version=head.config.version if isinstance(head, EagleHead) else "",
        aux_layers=head.config.aux_layers if isinstance(head, EagleHead) else (),
        other_tokenizer=other_tokenizer,
        changed="; ".join(f"measured: {what}, {note}" for what, note in changed if note),
        target_gguf=loaded.gguf_files.get("target", ""),
        gguf=models.gguf_files.get(role, ""),
        quantize=options.quantize,
        quantize_draft=options.of_draft.quantize if role == "draft" else "none",
        kv_cache=models.target.kv_cache,
        chat_template=options.chat_template,
        trust_remote_code=options.trust_remote_code,
    )
