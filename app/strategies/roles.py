"""The roles that a checkpoint can have: the target, and what drafts for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Role:
    name: str  # of its option and setting
    title: str
    help: str  # of its option
    demo: str  # its folder in the demo family


ROLES = {
    role.name: role
    for role in (
        Role("target", "target", "Folder or hub id of the target.", "target"),
        Role("draft", "draft model", "Folder or hub id of a draft model.", "draft"),
        Role("medusa", "Medusa heads",
             "Folder of Medusa heads; a merged model is the target as well.", "medusa"),
        Role("eagle", "EAGLE head", "Folder of an EAGLE head, in any dialect.", "eagle3"),
        Role("eagle1", "EAGLE head", "Folder of an EAGLE-1 or 2 head, a lane beside it.",
             "eagle1"),
    )
}  # fmt: skip
