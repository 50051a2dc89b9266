"""The roles that a checkpoint can have: the target, and what drafts for it."""

from __future__ import annotations

from dataclasses import dataclass

from decoding.checkpoints.dialects import Kind


@dataclass(frozen=True, slots=True)
class Role:
    name: str  # of its option and setting
    title: str
    help: str  # of its option
    demo: str  # its folder in the demo family
    kinds: tuple[Kind, ...]  # of checkpoints that it can be given to; found by the first one


ROLES = {
    role.name: role
    for role in (
        Role("target", "target", "Folder or hub id of the target.", "target", ("model",)),
        Role("draft", "draft model", "Folder or hub id of a draft model.", "draft", ("model",)),
        Role("medusa", "Medusa heads",
             "Folder of Medusa heads; a merged model is the target as well.", "medusa",
             ("medusa",)),
        Role("eagle", "EAGLE head", "Folder of an EAGLE head, in any dialect.", "eagle3",
             ("eagle3", "eagle1")),
        Role("eagle1", "EAGLE head", "Folder of an EAGLE-1 or 2 head, a lane beside it.",
             "eagle1", ("eagle1",)),
    )
}  # fmt: skip
HEADS = tuple(name for name, role in ROLES.items() if "model" not in role.kinds)
