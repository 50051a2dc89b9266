"""Wrong options for heads and their trees are one line and exit 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FamilyFolders, Specchat

BAD = {
    "no Medusa heads": (["--medusa", "HERE"], "holds no Medusa heads"),
    "no folder of Medusa heads": (["--medusa", "./nowhere"], "no folder ./nowhere"),
    "no such Medusa tree": (["--medusa", "HERE", "--medusa-choices", "oak"], "no such file"),
    "epsilon": (["--epsilon", "0"], "--epsilon"),
    "acceptance": (["--acceptance", "mostly"], "--acceptance"),
    "no EAGLE head": (["--eagle", "HERE"], "holds no EAGLE head"),
    "no folder of an EAGLE head": (["--eagle", "./nowhere"], "no folder ./nowhere"),
    "no such EAGLE tree": (["--eagle", "HERE", "--eagle-choices", "oak"], "no such file"),
    "a tree of the root alone": (["--eagle-total-tokens", "1"], "--eagle-total-tokens"),
    "no branches": (["--eagle-top-k", "0"], "--eagle-top-k"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input(
    case: str, specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    arguments, complaint = BAD[case]
    lanes = ("--strategies", "ar,eagle") if "eagle" in arguments[0] else ()
    done = specchat(
        "run", "--prompt", "a", "--target", family_folders.target, *lanes,
        *(str(tmp_path) if a == "HERE" else a for a in arguments),
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert complaint in done.stderr and done.stderr.count("\n") == 1
