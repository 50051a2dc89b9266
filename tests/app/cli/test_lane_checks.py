"""Options that don't fit are refused in a moment: before torch is imported."""

from __future__ import annotations

import subprocess
import sys

WRONG = [
    ("bench --peers hf --temperature 1", "--peers compares greedy decoding"),
    ("bench --peers hf-assisted --target x", "needs a draft model"),
    ("bench --batch 2 --strategies draft", "--batch needs the lane ar"),
    ("bench --concurrency 2", "--concurrency is for servers"),
    ("bench --sweep epsilon=0.1 --strategies ar", "epsilon changes nothing"),
    ("bench --simulate-acceptance 0.5 --temperature 1", "leave --temperature at 0"),
    ("rejections --strategies ar", "no lane drafts: add one"),
    ("rejections --server http://localhost:1", "a server does not say"),
    ("advise --strategies ar", "no lane drafts: add one"),
    ("advise --strategies ar,draft --sweep epsilon=0.1", "epsilon changes nothing"),
    ("run --medusa-choices oak --target ./nowhere", "--medusa-choices: tree 'oak': no such file"),
    ("run --eagle-choices [[-1]] --target ./nowhere", "--eagle-choices: tree '[[-1]]'"),
    ("run --concurrency 2", "--concurrency is for servers"),
]
CODE = f"""
import sys
from app.cli.main import main

for arguments in {[arguments for arguments, _ in WRONG]}:
    sys.argv = ["specchat", *arguments.split(), "--prompt", "the"]
    try:
        main()
    except SystemExit as ended:
        print(ended.code, "torch" in sys.modules)
"""


def test_wrong_options_are_refused_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["2 False"] * len(WRONG), done.stderr
    for line, (arguments, complaint) in zip(done.stderr.splitlines(), WRONG, strict=True):
        assert complaint in line, arguments
