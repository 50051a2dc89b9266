"""Formats the document of a headless run as text for people."""

from __future__ import annotations

from typing import Any

from app.config.presets import MODEL
from app.report.load_text import load_line
from app.report.verdict import FEW_TOKENS, INCREDIBLE, incredible_row
from app.text.plural import pluralize


def format_run(document: dict[str, Any]) -> str:
    """Format each lane's figures and answer."""
    blocks = []
    runs = document["runs"]
    for run in runs:
        if len(runs) > 1:
            blocks.append(f"# {run['index']}: {run['prompt'] or run['prompt_ids']}")
        for lane in run["lanes"]:
            title = f"[{lane['lane']}] {_figures(lane)}"
            blocks.append("\n".join(part for part in (title, lane["text"]) if part))
    compared = [lane for run in runs for lane in run["lanes"] if lane["speedup"] is not None]
    if any(map(incredible_row, compared)):
        blocks.append(INCREDIBLE)
    elif any(lane["tokens"] < FEW_TOKENS for lane in compared):
        blocks.append(f"speeds over fewer than {FEW_TOKENS} tokens are mostly chance")
    blocks += [load_line(load) for load in document["load"]]
    if document["ignored"]:
        names = ", ".join(document["ignored"])
        line = f"the model's generation_config also asks for {names}: ignored"
        if "repetition_penalty" in document["ignored"]:
            line += f" (--preset {MODEL} applies its repetition_penalty)"
        blocks.append(line)
    at_once = ", batch size 1" if not document["load"] else ""
    kept = document["kv_cache"]
    lossy = f", keys and values in {kept} (LOSSY)" if kept not in (None, "none") else ""
    blocks.append(f"seed {document['settings']['seed']}{at_once}{lossy}")
    return "\n\n".join(blocks)


def _figures(lane: dict[str, Any]) -> str:
    if not lane["available"]:
        return f"not available: {lane['reason']}"
    if lane["finish_reason"] == "error":
        return f"failed: {lane['reason']}"
    parts = [pluralize(lane["tokens"], "token")]
    for key, form in (
        ("ttft_seconds", "TTFT {:.3f} s"),
        ("tokens_per_second", "{:.1f} tok/s"),
        ("speedup", "{:.2f}x"),
        ("acceptance_rate", "α {:.0%}"),
        ("tokens_per_pass", "τ {:.2f}"),
    ):
        if lane[key] is not None:
            doubt = "?" if key == "speedup" and incredible_row(lane) else ""
            parts.append(form.format(lane[key]) + doubt)
    if lane["acceptance_rate"] is None and lane["drafted"]:  # most servers report only this
        parts.append(f"{lane['accepted']} of {lane['drafted']} drafts accepted")
    if lane["same_text"] is not None:
        parts.append("the same text as ar" if lane["same_text"] else "another text than ar")
    if lane["matches_ar"] is False:
        parts.append(f"differs from ar at token {lane['first_divergence']}")
    if lane["lossy"]:
        parts.append("LOSSY (typical acceptance)")
    parts.append(str(lane["finish_reason"]))
    if lane["reason"]:
        parts.append(lane["reason"])
    return " · ".join(parts)
