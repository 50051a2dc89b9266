"""The command from outside: its document, its exit codes, its one line for wrong input."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
import typer

from app.cli.commands import cli
from tests.conftest import FamilyFolders, Specchat

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run_json(
    specchat: Specchat, family_folders: FamilyFolders, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    monkeypatch.setattr("app.cli.terminal.PATIENCE", math.inf)

    def run(*arguments: str, stdin: str = "") -> dict[str, Any]:
        models = ("--target", family_folders.target, "--draft", family_folders.draft)
        done = specchat("run", "--json", *models, "--threads", "1", *arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""  # of what is short, and no terminal: no progress
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    return run


RunJson = Callable[..., dict[str, Any]]


def test_help_and_version_import_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "textual", "pydantic")
    code = f"""
import sys
sys.argv = ["specchat", "--help"]
from app.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_help_fits_into_80_columns_and_has_what_the_command_uses(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answered, shown = (specchat(name, "--help").stdout for name in ("run", "chat"))
    assert "--temperature" in answered and "--theme" in shown and "--theme" not in answered
    for text in (answered, shown):
        assert "…" not in text and max(map(len, text.splitlines())) <= 80
        first = next(line for line in text.splitlines() if "--family" in line)
        assert len(first.partition("TEXT")[2]) > 40  # most of the line is for its words


def test_no_help_is_cut_off_at_80_columns(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    subcommands = "convert", "distill", "train", "watch", "quantize", "export", "eval"
    commands = [
        [],
        ["bench"],
        ["advise"],
        ["serve"],
        ["heads"],
        *(["heads", s] for s in subcommands),
    ]
    for command in commands:
        shown = specchat(*command, "--help").stdout.replace("--aux-layers,--…", "")  # its old name
        assert "Usage" in shown and "…" not in shown, command


def test_every_option_has_a_help_without_types_and_with_round_bounds(
    specchat: Specchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        yield path
        for parameter in command.params:
            assert parameter.help or getattr(parameter, "hidden", False), (path, parameter.name)
        for name, inner in getattr(command, "commands", {}).items():
            yield from commands(inner, (*path, name))

    for path in commands(typer.main.get_command(cli)):
        _, _, options = specchat(*path, "--help").stdout.partition("─ Options")
        lines = "".join(line for line in options.splitlines() if "--help" not in line)
        assert not re.findall(r"(?i)<(?:bool|path|str|int|float)\b[^|]*?>|\.0\]|\.0<", lines), path


@pytest.mark.parametrize(("flag", "ignored"), [((), True), (("--no-ignore-eos",), False)])
def test_a_switch_that_the_config_turned_on_can_be_turned_off(
    run_json: RunJson, tmp_path: Path, flag: tuple[str, ...], ignored: bool
) -> None:
    (tmp_path / "config.toml").write_text("ignore_eos = true")
    document = run_json("--prompt", "the", "--max-new-tokens", "2", *flag)
    assert document["settings"]["ignore_eos"] is ignored


def test_what_is_wrong_of_the_screen_does_not_stop_those_that_have_none(
    run_json: RunJson, specchat: Specchat, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('theme = "pink"\n[keys]\nphantoms = "x"\n')
    assert run_json("--prompt", "the", "--max-new-tokens", "2")["runs"]
    assert specchat("models").returncode == 0
    config.write_text("colour = 'pink'")  # a setting that nobody has
    for command in (("run", "--prompt", "the"), ("models",)):
        done = specchat(*command)
        assert done.returncode == 2 and "colour in" in done.stderr


def test_from_a_shell(family_folders: FamilyFolders) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "run", "--json", "--prompt", "the", "--target",
         family_folders.target, "--max-new-tokens", "4"],
        capture_output=True, encoding="utf-8", cwd=ROOT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["lanes"][0]["tokens"] <= 4


def test_version(specchat: Specchat) -> None:
    assert specchat("--version").stdout.count(".") == 2


LANE_KEYS = {
    "lane", "strategy", "checkpoint", "overrides", "available", "reason", "text", "reasoning",
    "token_ids", "finish_reason", "tokens", "prefill_seconds", "draft_prefill_seconds",
    "ttft_seconds", "decode_seconds", "tokens_per_second", "speedup", "target_passes",
    "tokens_per_pass", "drafted", "tested", "accepted", "acceptance_rate", "accepted_histogram",
    "matches_ar", "first_divergence", "divergence_gap", "lossy", "server", "same_text",
}  # fmt: skip


def test_the_document(run_json: RunJson, family_folders: FamilyFolders) -> None:
    document = run_json(
        "--prompt", "the quick fox 🦊", "--max-new-tokens", "20", "--ignore-eos", "--trace",
        "--strategies", "ar,draft:gamma=2,draft:gamma=8,draft-only,lookup", "--seed", "5",
    )  # fmt: skip
    assert document["schema_version"] == 1 and document["settings"]["seed"] == 5
    assert document["target"] == family_folders.target
    assert (document["device"], document["dtype"], document["threads"]) == ("cpu", "float32", 1)
    (run,) = document["runs"]
    assert run["turn"] == 0 and run["prompt"] == "the quick fox 🦊"
    lanes = {lane["lane"]: lane for lane in run["lanes"]}
    assert list(lanes) == ["ar", "draft:gamma=2", "draft:gamma=8", "draft-only", "lookup"]
    for lane in lanes.values():
        assert set(lane) == LANE_KEYS | {"rounds"}
        assert lane["available"] and lane["finish_reason"] == "length" and lane["tokens"] == 20
        assert lane["token_ids"][1:] == [i for r in lane["rounds"] for i in r["emitted"]]
        assert lane["decode_seconds"] == pytest.approx(
            sum(r["total_seconds"] for r in lane["rounds"])
        )
        assert lane["tokens_per_second"] == pytest.approx(19 / lane["decode_seconds"])
        assert lane["tokens_per_pass"] == pytest.approx(19 / len(lane["rounds"]))
        assert sum(lane["accepted_histogram"]) == len(lane["rounds"])
        assert lane["speedup"] == pytest.approx(
            lane["tokens_per_second"] / lanes["ar"]["tokens_per_second"]
        )
        for record in lane["rounds"]:
            assert record["parents"][0] == -1
            assert len(record["tokens"]) == len(record["parents"])
            kept = [record["tokens"][node] for node in record["accepted"]]
            assert record["emitted"][: len(kept)] == kept
    for name in ("draft:gamma=2", "draft:gamma=8", "lookup"):
        assert lanes[name]["token_ids"] == lanes["ar"]["token_ids"]
        assert lanes[name]["matches_ar"] is True and lanes[name]["first_divergence"] is None
        assert lanes[name]["target_passes"] == len(lanes[name]["rounds"])
    assert lanes["draft-only"]["target_passes"] == 0 and lanes["draft-only"]["matches_ar"] is None
    assert lanes["draft:gamma=8"]["drafted"] > lanes["draft:gamma=2"]["drafted"] * 2
    assert lanes["ar"]["acceptance_rate"] is None


def test_turns_go_on_with_the_first_lanes_answer(run_json: RunJson) -> None:
    record = json.dumps({"turns": ["the fox", "the dog"], "id": "talk", "category": "c"})
    document = run_json("--prompts", "-", "--max-new-tokens", "6", "--strategies", "draft,ar",
        stdin=record + "\n" + json.dumps({"input_ids": [5, 6, 7]}),
    )  # fmt: skip
    first, second, third = document["runs"]
    assert [run["turn"] for run in document["runs"]] == [0, 1, 0]
    assert [run["index"] for run in document["runs"]] == [0, 1, 2]
    assert (second["id"], second["category"]) == ("talk", "c")
    assert len(second["prompt_ids"]) > len(first["prompt_ids"])
    assert third["prompt"] is None and third["prompt_ids"] == [5, 6, 7]


def test_sampling_is_seeded_and_lanes_do_not_depend_on_each_other(run_json: RunJson) -> None:
    def ids(strategies: str, seed: str) -> dict[str, list[int]]:
        document = run_json("--prompt", "the", "--temperature", "1", "--seed", seed,
            "--max-new-tokens", "12", "--strategies", strategies, "--ignore-eos",
        )  # fmt: skip
        return {lane["lane"]: lane["token_ids"] for lane in document["runs"][0]["lanes"]}

    both, alone = ids("ar,draft", "9"), ids("draft", "9")
    assert both["draft"] == alone["draft"]
    assert ids("draft", "10")["draft"] != alone["draft"]
    drawn = run_json("--prompt", "the", "--temperature", "1")
    assert isinstance(drawn["settings"]["seed"], int)
    assert drawn["runs"][0]["lanes"][1]["matches_ar"] is None


def test_a_lane_that_cannot_run_keeps_its_keys(
    specchat: Specchat, family_folders: FamilyFolders
) -> None:
    models = ("--target", family_folders.target, "--prompt", "the", "--max-new-tokens", "4")
    done = specchat("run", "--json", *models, "--strategies", "draft,ar")
    assert done.returncode == 0
    draft, ar = json.loads(done.stdout)["runs"][0]["lanes"]
    assert set(draft) == LANE_KEYS and draft["available"] is False
    assert "--draft" in draft["reason"] and draft["token_ids"] == [] and draft["text"] == ""
    assert ar["available"] and ar["finish_reason"]
    alone = specchat("run", "--json", *models, "--strategies", "draft")
    assert alone.returncode == 2 and "--draft" in alone.stderr and alone.stdout == ""


def test_readable_output_and_stop_texts(
    specchat: Specchat, run_json: RunJson, family_folders: FamilyFolders
) -> None:
    models = ("--target", family_folders.target, "--draft", family_folders.draft)
    bare = specchat("run", "the dog", *models, "--max-new-tokens", "8")
    done = specchat("run", *models, "--prompt", "-", "--max-new-tokens", "8", stdin="the dog")
    answers = [text.stdout.splitlines()[1:] for text in (bare, done)]
    assert answers[0][0] and answers[0][0] == answers[1][0]
    assert done.returncode == 0
    assert "[ar] " in done.stdout and "tok/s" in done.stdout and "seed " in done.stdout
    whole = run_json("--prompt", "the", "--max-new-tokens", "30", "--ignore-eos")
    text = whole["runs"][0]["lanes"][0]["text"]
    stop = text[5:7]
    stopped = run_json("--prompt", "the", "--max-new-tokens", "30", "--ignore-eos",
        "--stop", stop,
    )  # fmt: skip
    for lane in filter(lambda lane: lane["available"], stopped["runs"][0]["lanes"]):
        assert lane["finish_reason"] == "stop"
        assert lane["text"] == text[: text.index(stop)]


LONG = json.dumps({"input_ids": [5] * 129, "id": "long"})
BAD = {
    "no such command": (["help"], "", "No such command 'help'; --help has them all"),
    "a question for a command": (
        ["what is EAGLE?"],
        "",
        "No such command 'what is EAGLE?'; specchat run TEXT answers one; --help has them all",
    ),
    "nearly a command": (
        ["what", "is", "EAGLE?"],
        "",
        "No such command 'what', perhaps 'chat'; --help has them all",
    ),
    "an option of run": (
        ["--prompt", "hi"],
        "",
        "No such option: --prompt, perhaps specchat run --prompt; --help has them all",
    ),
    "piped prompt": (["run"], "hi", "FILE.jsonl; - reads stdin"),
    "no prompt": (["run"], "", "give one of --prompt TEXT and --prompts"),
    "two prompts": (["run", "--prompt", "a", "--prompts", "b"], "", "give one of"),
    "a prompt twice": (["run", "a", "--prompt", "b"], "", "give one of a prompt as"),
    "empty prompt": (["run", "--prompt", " "], "", "the prompt is empty"),
    "empty stdin": (["run", "--prompt", "-"], "", "the prompt is empty"),
    "no such file": (["run", "--prompts", "nowhere.jsonl"], "", "no file nowhere.jsonl"),
    "bad line": (["run", "--prompts", "-"], '{"prompt": 1}', "stdin:1: prompt must be text"),
    "temperature": (["run", "--prompt", "a", "--temperature", "-1"], "", "--temperature"),
    "temperature nan": (["run", "--prompt", "a", "--temperature", "nan"], "", "--temperature"),
    "top-p": (["run", "--prompt", "a", "--top-p", "0"], "", "--top-p"),
    "min-p": (["run", "--prompt", "a", "--min-p", "2"], "", "--min-p"),
    "gamma": (["run", "--prompt", "a", "--gamma", "lots"], "", "--gamma: must be"),
    "own setting": (
        ["run", "--prompt", "a", "--strategies", "ar:delta=1"],
        "",
        "--strategies: strategy 'ar:delta=1': delta does nothing there",
    ),
    "not Unicode": (["run", "--prompt", "a\udcff"], "", "--prompt holds bytes"),
    "system not Unicode": (
        ["run", "--prompt", "a", "--system", "\udcff"],
        "",
        "--system: the text holds bytes",
    ),
    "target empty": (["run", "--prompt", "a", "--target", ""], "", "--target"),
    "tokens": (["run", "--prompt", "a", "--max-new-tokens", "0"], "", "--max-new-tokens"),
    "seed": (["run", "--prompt", "a", "--seed", "-4"], "", "--seed"),
    "strategy": (["run", "--prompt", "a", "--strategies", "x"], "", "unknown strategy 'x'"),
    "device": (["run", "--prompt", "a", "--device", "tpu"], "", "--device: must be auto, cpu, "),
    "dtype": (["run", "--prompt", "a", "--dtype", "int3"], "", "--dtype"),
    "kv cache": (["run", "--prompt", "a", "--kv-cache", "int4"], "", "--kv-cache"),
    "threads": (["run", "--prompt", "a", "--threads", "0"], "", "--threads"),
    "stop": (["run", "--prompt", "a", "--stop", ""], "", "--stop"),
    "family": (["run", "--prompt", "a", "--family", "huge"], "", "--family"),
    "trace alone": (["run", "--prompt", "a", "--trace"], "", "add --json"),
    "temperature beyond the slider": (["--temperature", "9"], "", "--temperature: input should be"),
    "serve's address": (
        ["serve", "--public-url", "example.com"],
        "",
        "--public-url: begin it with http:// or https://, not 'example.com'",
    ),
    "compressed answers": (
        ["heads", "distill", "--target", "a", "--prompts", "b", "--out", "answers.jsonl.gz"],
        "",
        "--out answers.jsonl.gz: answers are not compressed",
    ),
    "distilled into a folder": (
        ["heads", "distill", "--target", "a", "--prompts", "b", "--out", "tests"],
        "",
        "--out tests is a folder: give a file",
    ),
    "a seed beyond the highest": (
        ["heads", "convert", "eagle1", "--target", "a", "--out", "b", "--seed", "4294967296"],
        "",
        "--seed 4294967296: give a whole number from 0 to 4294967295",
    ),
    "a seed of nothing random": (
        ["heads", "convert", "medusa", "--target", "a", "--out", "b", "--seed", "1"],
        "",
        "--seed is for EAGLE, not for Medusa: leave it out",
    ),
    "data of no vocabulary": (
        ["heads", "convert", "eagle3", "--target", "a", "--out", "b", "--data", "c"],
        "",
        "--data is for --draft-vocab: give both, or leave it out",
    ),
    "no place for results": (
        ["heads", "convert", "eagle1", "--target", "a", "--out", "/proc/nowhere/heads"],
        "",
        "can't write to /proc/nowhere/heads (No such file or directory): choose another place",
    ),
    "a device of another kind": (
        ["heads", "convert", "eagle1", "--target", "TARGET", "--out", "b", "--device", "tpu"],
        "",
        "--device: must be auto, cpu, cuda, cuda:N or mps, not 'tpu'",
    ),
    "a draft model of uneven heads": (
        ["heads", "convert", "draft", "--target", "TARGET", "--out", "b", "--width", "31"],
        "",
        "(31) is not a multiple of the number of attention heads (4)",
    ),
    "measuring without a target": (
        ["heads", "quantize", "--heads", "a", "--to", "int8", "--out", "b"]
        + ["--max-new-tokens", "8"],
        "",
        "--max-new-tokens is for measuring: give --target and --prompts too",
    ),
    "no such choice": (
        ["heads", "quantize", "--heads", "a", "--to", "int3", "--out", "b"],
        "",
        "'--to': 'int3' is not one of 'int8', 'int4', 'fp8'",
    ),
    "unknown option": (["run", "--prompt", "a", "--bogus"], "", "option: --bogus; --help has"),
    "option of another program": (
        ["run", "--model", "a"],
        "",
        "No such option: --model, perhaps --target; --help has them all",
    ),
    "unknown command": (["dance"], "", "dance"),
    "a prompt without quotes": (
        ["run", "what", "is", "it"],
        "",
        "(is it); put the prompt in quotes",
    ),
    "a prompt that is far too long": (
        ["run", "--prompts", "-", "--target", "TARGET"],
        '{"prompt": "a"}\n{"id": "mine", "prompt": "' + "a" * 1_000_000 + '"}',
        "prompt mine: the prompt has 1000000 characters",
    ),
    "option before the command": (["--gamma", "2", "run", "--prompt", "a"], "", "after 'run'"),
    "no such folder": (["run", "--prompt", "a", "--target", "./nowhere"], "", "no folder"),
    "no model in it": (["run", "--prompt", "a", "--target", "tests"], "", "no config.json"),
    "no terminal": ([], "", "specchat run"),
    "draft alone, of another tokenizer": (
        ["run", "--prompt", "a", "--strategies", "draft-only"]
        + ["--target", "TARGET", "--draft", "STRANGER"],
        "",
        "the draft model has another tokenizer",
    ),
    "prompt too long": (
        ["run", "--prompts", "-", "--target", "TARGET"],
        LONG,
        "prompt long has 129 tokens, the model's context holds 128",
    ),
    "id beyond the vocabulary": (
        ["run", "--prompts", "-", "--target", "TARGET"],
        '{"input_ids": [99999]}',
        "has the token id 99999, the model's ids are 0 to ",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_one_line_and_exit_2(
    case: str, specchat: Specchat, family_folders: FamilyFolders
) -> None:
    arguments, stdin, complaint = BAD[case]
    places = {"TARGET": family_folders.target, "STRANGER": family_folders.stranger}
    done = specchat(*(places.get(a, a) for a in arguments), stdin=stdin)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("specchat: ") and complaint in done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_what_does_not_fit_into_memory_is_one_line_and_exit_1(
    specchat: Specchat, family_folders: FamilyFolders, tmp_path: Path
) -> None:
    out = str(tmp_path / "heads")
    convert = ("heads", "convert", "eagle1", "--target", family_folders.target, "--out", out)
    done = specchat(*convert, "--mlp", "99999999999999")
    assert done.returncode == 1 and done.stderr.startswith("specchat: out of memory: ask for less")
    assert done.stderr.count("\n") == 1 and not Path(out).exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
@pytest.mark.parametrize(
    "command",
    ["models --json >/dev/full", "models --json >&-", "models --json | true", "doctor >&-"],
)
def test_output_that_gets_lost_is_one_line_and_exit_1(command: str) -> None:
    script = f"{sys.executable} -m app {command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.startswith("specchat: ") and done.stderr.count("\n") == 1


def full_disk() -> TextIO:
    return open("/dev/full", "w")


def no_reader() -> TextIO:
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
@pytest.mark.parametrize("lost", [full_disk, no_reader, lambda: None])
@pytest.mark.parametrize("form", ["--json", "--stop=x"])
def test_answers_that_get_lost_are_one_line_and_exit_1(
    form: str,
    lost: Callable[[], TextIO | None],
    specchat: Specchat,
    family_folders: FamilyFolders,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In this process; the test above takes the way through the interpreter's end."""
    stdout = lost()
    monkeypatch.setattr(sys, "stdout", stdout)
    models = ("--target", family_folders.target, "--strategies", "ar")
    done = specchat("run", "--prompt", "hi", "--max-new-tokens", "2", *models, form)
    if stdout:
        stdout.close()
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("specchat: ") and done.stderr.count("\n") == 1
