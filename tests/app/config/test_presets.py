"""Named sets of settings in a file of the user's, which nothing may spoil."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.screen_settings import settings_from
from app.config.presets import BUILT_IN, MODEL, Presets, validate_preset
from app.config.settings import load_settings
from decoding.errors import InputError
from decoding.params import Params, flat, with_settings


@pytest.fixture
def presets(tmp_path: Path) -> Presets:
    return Presets(tmp_path / "not yet there" / "presets.json")


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_comes_along_can_be_used(presets: Presets, name: str) -> None:
    assert with_settings(Params(), presets.get(name)) is not None
    assert "gamma" not in presets.get(name)  # not theirs to say


def test_all_settings_go_to_the_file_and_come_back(presets: Presets) -> None:
    mine = flat(with_settings(Params(), {"gamma": "auto", "top_k": 40, "temperature": 0.333}))
    presets.save("Größer", mine)
    presets.save("other", {"gamma": None})
    assert Presets(presets.path).get("Größer") == mine
    assert "Größer" in presets.path.read_text(encoding="utf-8")  # to be read by people
    presets.rename("Größer", "kleiner")
    assert list(presets.all()) == [*BUILT_IN, "kleiner", "other"]
    presets.delete("other")
    assert list(presets.all()) == [*BUILT_IN, "kleiner"] and presets.get("kleiner") == mine
    assert [each.name for each in presets.path.parent.iterdir()] == ["presets.json"]


def test_an_undone_change_keeps_what_another_window_has_saved(presets: Presets) -> None:
    presets.save("a", {"top_k": 1})
    presets.save("b", {"top_k": 2})
    presets.delete("a")
    other = Presets(presets.path)
    other.save("c", {"top_k": 3})
    presets.take_back()
    assert list(presets.all()) == [*BUILT_IN, "a", "b", "c"]
    deletion = presets.changes[-1]
    presets.rename("a", "d")
    other.save("d", {"top_k": 4})
    with pytest.raises(InputError, match="“d” was changed elsewhere since"):
        presets.take_back()
    assert presets.get("d") == {"top_k": 4} and presets.changes[-1] is not deletion


def test_names_that_are_taken(presets: Presets) -> None:
    presets.save("a", {})
    presets.save("b", {})
    with pytest.raises(InputError, match="there is a “b” already"):
        presets.rename("a", "b")
    with pytest.raises(InputError, match="“greedy” is built in"):
        presets.save("greedy", {})
    with pytest.raises(InputError, match="“greedy” is built in"):
        presets.rename("a", "greedy")


@pytest.mark.parametrize("broken", ["{", "[]", '"x"', "\udc80"])
def test_a_broken_file_is_one_line_and_stays_as_it_is(presets: Presets, broken: str) -> None:
    presets.path.parent.mkdir()
    data = broken.encode(errors="surrogateescape")
    presets.path.write_bytes(data)
    for use in (presets.all, lambda: presets.save("x", {}), lambda: presets.delete("x")):
        with pytest.raises(InputError, match=r"presets.json") as caught:
            use()
        assert "\n" not in str(caught.value)
    assert presets.path.read_bytes() == data


def test_what_is_not_understood_in_it_is_not_lost(presets: Presets) -> None:
    presets.path.parent.mkdir()
    strange = {"mine": {"temperature": 0.5}, "odd": {"new": 1}, "odder": 3, "greedy": {"top_k": 9}}
    presets.path.write_text(json.dumps(strange))
    presets.save("one more", {"top_k": 5})
    assert json.loads(presets.path.read_text()) == {**strange, "one more": {"top_k": 5}}
    assert presets.get("greedy") == {"top_k": 9}  # the user's word goes before ours
    with pytest.raises(InputError, match="the preset “odd” in .*: there is no setting 'new'"):
        presets.get("odd")
    with pytest.raises(InputError, match="there is no preset “x”; there are “greedy”, “usual"):
        presets.get("x")


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ({"temperature": -1}, "temperature: input should be greater than or equal to 0, not -1"),
        ({"temperature": None}, "temperature: input should be a valid number"),
        ({"top_k": 1.5}, "top_k: .* integer"),
        ({"gamma": "most"}, "gamma: must be auto or a whole number"),
        ({"target": "x"}, "there is no setting 'target'"),
        (7, "must be an object"),
    ],
)
def test_wrong_values_are_named(preset: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        validate_preset(preset)


def test_a_write_that_fails_leaves_the_old_file(
    presets: Presets, monkeypatch: pytest.MonkeyPatch
) -> None:
    presets.save("kept", {"top_k": 5})
    before = presets.path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        presets.save("more", {})
    assert presets.path.read_bytes() == before
    assert [each.name for each in presets.path.parent.iterdir()] == ["presets.json"]


def test_a_file_that_cannot_be_read_is_named_once(
    presets: Presets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    presets.path.mkdir(parents=True)
    with pytest.raises(InputError, match="^can't read the presets in .*: Is a directory$"):
        presets.all()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "specchat" / "presets.json").mkdir(parents=True)
    for name in ("creative", MODEL):  # the model's own may be one of the user's
        with pytest.raises(InputError, match="^can't read the presets in .*: Is a directory$"):
            settings_from({"preset": name})


def test_a_preset_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SPECCHAT_TEMPERATURE", "0.1")
    monkeypatch.setenv("SPECCHAT_TOP_K", "7")
    monkeypatch.setenv("SPECCHAT_GAMMA", "3")
    chosen = load_settings({"preset": "usual sampling", "top_p": 0.5})
    assert (chosen.temperature, chosen.top_p, chosen.top_k, chosen.gamma) == (0.7, 0.5, 0, 3)
    with pytest.raises(InputError, match="there is no preset “nope”"):
        load_settings({"preset": "nope"})
