"""The roles of checkpoints: the target and the kinds of drafters."""

from __future__ import annotations

from dataclasses import dataclass

from decoding.checkpoints.dialects import CheckpointKind


@dataclass(frozen=True, slots=True)
class Role:
    name: str  # also the name of the option and setting
    title: str
    help: str  # for the option
    demo: str  # folder in the demo family
    kinds: tuple[CheckpointKind, ...]  # that can have the role, the usual one first


ROLES = {
    role.name: role
    for role in (
        Role("target", "target", "Folder or hub id of the target.", "target", ("model",)),
        Role("draft", "draft model", "Folder or hub id of a draft model.", "draft", ("model",)),
        Role("medusa", "Medusa heads",
             "Folder of Medusa heads, or of a target merged with its heads.", "medusa",
             ("medusa",)),
        Role("eagle", "EAGLE head", "Folder of an EAGLE head, in any dialect.", "eagle3",
             ("eagle3", "eagle1")),
        Role("eagle1", "EAGLE head", "Folder of an EAGLE-1 or 2 head, for a second EAGLE lane.",
             "eagle1", ("eagle1",)),
    )
}  # fmt: skip
HEADS = tuple(name for name, role in ROLES.items() if "model" not in role.kinds)
