"""Where settings come from, and which source wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.commands.shared_options import SHARED
from app.cli.screen_settings import keymap_of, last_theme, settings_from, theme_of
from app.config import settings as module
from app.config.families import PUBLIC_FAMILIES
from app.config.overrides import parse_strategies
from app.config.settings import Settings, load_settings
from app.history.next_start import THEME
from app.history.store import Store
from app.strategies.lane_spec import LaneSpec
from decoding.errors import InputError


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setattr(module, "config_file", lambda: path)
    return path


def test_flags_over_environment_over_file_over_defaults(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("top_p = 0.7\ntop_k = 30\nmin_p = 0.1\n")
    monkeypatch.setenv("SPECCHAT_TOP_P", "0.8")
    monkeypatch.setenv("SPECCHAT_TOP_K", "20")
    settings = load_settings({"top_p": 0.9})
    assert (settings.top_p, settings.top_k, settings.min_p) == (0.9, 20, 0.1)
    assert settings.max_new_tokens == 256 and settings.temperature == 0.0


def test_a_family_that_is_given_leaves_out_the_models_of_file_and_environment(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('target = "./mine"\nadapter = "./lora"\nthreads = 2\n')
    monkeypatch.setenv("SPECCHAT_DRAFT", "./small")
    assert load_settings({}).models.target == "./mine"
    family = PUBLIC_FAMILIES["smollm2"].sources
    models = load_settings({"family": "smollm2"}).models
    assert {"target": models.target, **models.drafters} == family
    assert models.adapter is None and models.threads == 2
    own = load_settings({"family": "smollm2", "draft": "./other"}).models
    assert (own.target, own.drafters["draft"]) == (family["target"], "./other")
    with pytest.raises(InputError, match="give one of --family and --target$"):
        load_settings({"family": "smollm2", "target": "./mine"})


def test_a_family_in_the_environment_leaves_out_the_models_of_the_file(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('target = "./mine"\nchat_template = "./mine.jinja"\nmedusa = "./heads"\n')
    monkeypatch.setenv("SPECCHAT_FAMILY", "smollm2")
    family = PUBLIC_FAMILIES["smollm2"]
    models = load_settings({}).models
    assert {"target": models.target, **models.drafters} == family.sources
    assert models.chat_template is None and family.chat_template is None
    monkeypatch.setenv("SPECCHAT_DRAFT", "./small")
    assert load_settings({}).models.drafters["draft"] == "./small"
    assert load_settings({"target": "./other"}).models.target == "./other"
    monkeypatch.setenv("SPECCHAT_TARGET", "./theirs")
    with pytest.raises(InputError, match="one of SPECCHAT_FAMILY and SPECCHAT_TARGET$"):
        load_settings({})


def test_every_shared_option_but_the_preset_is_a_setting() -> None:
    assert {option.name for option in SHARED} - Settings.model_fields.keys() == {"preset"}


def test_what_is_wrong_is_named_with_its_source(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="^--top-p: .* less than or equal to 1, not 3.0"):
        load_settings({"top_p": 3.0})
    config.write_text("temperature = 9")
    with pytest.raises(InputError, match=r"^temperature in .*: .* less than or equal to 2, not 9"):
        load_settings({})
    config.write_text("top_p = 3")
    with pytest.raises(InputError, match=r"^top_p in .*config.toml: "):
        load_settings({})
    monkeypatch.setenv("SPECCHAT_TOP_P", "4")
    with pytest.raises(InputError, match="^SPECCHAT_TOP_P: .*not '4'"):
        load_settings({})
    monkeypatch.delenv("SPECCHAT_TOP_P")
    config.write_text("top_q = 1")
    with pytest.raises(InputError, match=r"top_q in .*config.toml: there is no such setting"):
        load_settings({})
    config.write_text("max-new-tokens = 1")
    with pytest.raises(InputError, match=r"no such setting; perhaps max_new_tokens$"):
        load_settings({})
    config.write_text("")
    config.write_text("model = 'a'")
    with pytest.raises(InputError, match=r"no such setting; perhaps target$"):
        load_settings({})
    config.write_text("")
    monkeypatch.setenv("specchat_top_p", "4")
    with pytest.raises(InputError, match="^specchat_top_p: .*not '4'"):
        load_settings({})
    monkeypatch.delenv("specchat_top_p")
    with pytest.raises(InputError, match="preset"):
        load_settings({"preset": ""})
    monkeypatch.setenv("SPECCHAT_FAMILIES", "mine")
    with pytest.raises(InputError, match="^SPECCHAT_FAMILIES: .*valid dictionary, not 'mine'"):
        load_settings({})
    monkeypatch.delenv("SPECCHAT_FAMILIES")
    for name in ("max_new_tokens", "temperature", "seed"):
        config.write_text(f"{name} = true")
        with pytest.raises(
            InputError, match=f"{name} in .*config.toml: must be a number, not true"
        ):
            load_settings({})
    config.write_text("top_p = = 1")
    with pytest.raises(InputError, match="can't read the settings"):
        load_settings({})


def test_a_file_may_begin_with_a_byte_order_mark(config: Path) -> None:
    config.write_text("top_k = 30", encoding="utf-8-sig")
    assert load_settings({}).top_k == 30


def test_a_folder_in_place_of_the_file(config: Path) -> None:
    config.mkdir()
    with pytest.raises(InputError, match="can't read the settings in .*: it is a folder"):
        load_settings({})


def test_a_theme_is_checked_where_a_screen_asks_for_it(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('theme = "nord"')
    assert theme_of(settings_from({})) == "nord"
    for wrong in ('"pink"', "7", '["nord"]'):
        config.write_text(f"theme = {wrong}")
        settings = load_settings({})  # as a headless command does, which has no colours
        with pytest.raises(InputError, match="^theme in .*config.toml: there is no theme '"):
            print(theme_of(settings))
    assert theme_of(settings_from({"theme": "nord"})) == "nord"
    with pytest.raises(InputError, match="^--theme: there is no theme 'pink'; choose from spec"):
        settings_from({"theme": "pink"})
    monkeypatch.setenv("SPECCHAT_THEME", "grey")
    with pytest.raises(InputError, match="^SPECCHAT_THEME: there is no theme 'grey'"):
        print(theme_of(settings_from({})))


def test_keys_are_checked_where_a_screen_asks_for_them(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong, why in (
        ('keys = "x"', "must be a table"),
        ("[keys]\nview.ghosts = 7", "must be a table"),
        ("[keys]\nview.a.b = 'x'", "must be a table"),
        ('[keys]\n"view.ghosts" = "c"\n', "c would be both"),
    ):
        config.write_text(wrong)
        settings = load_settings({})  # as a headless command does, which has no keys
        with pytest.raises(InputError, match=f"^keys in .*config.toml: {why}"):
            print(keymap_of(settings))
    config.write_text('[keys]\n"view.ghosts" = "f9"\nview.look = "f8"\n')
    assert keymap_of(settings_from({})) == {"view.ghosts": "f9", "view.look": "f8"}
    config.write_text("")
    assert keymap_of(settings_from({})) == {}
    monkeypatch.setenv("SPECCHAT_KEYS", "x")
    with pytest.raises(InputError, match="^SPECCHAT_KEYS: must be a table"):
        print(keymap_of(settings_from({})))


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("wrongname", "wrongname is neither a folder nor in the Hugging Face cache, and .* can't "
         "be reached .*; `specchat models` lists what is here, --family demo always is"),
        ("./wrong/folder/x", "no folder ./wrong/folder/x: give a .* folder or a hub id"),
        ("tests", "^tests has no config.json: give a Hugging Face model folder$"),
        ("README.md", "^README.md is a file: give the model's folder"),
    ],
)  # fmt: skip
def test_a_target_that_is_nowhere_stops_the_screen_before_anything_begins(
    config: Path, monkeypatch: pytest.MonkeyPatch, target: str, why: str
) -> None:
    from app.cli import chat as screen

    monkeypatch.setattr(screen, "SessionProcess", None)
    with pytest.raises(InputError, match=why):
        screen.open_screen(load_settings({"target": target}))


def test_the_theme_is_the_one_last_chosen_unless_one_is_set(config: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "kept")
    assert last_theme(load_settings({}), store) == "specchat-dark"
    store.next_start.remember(THEME, "specchat-light")
    assert last_theme(load_settings({}), store) == "specchat-light"
    assert last_theme(load_settings({"theme": "nord"}), store) == "nord"
    store.next_start.remember(THEME, "of another version")
    assert last_theme(load_settings({}), store) == "specchat-dark"
    store.next_start.remember(THEME, "specchat-light")
    config.write_text("theme = 'nord'\n")
    assert last_theme(load_settings({}), store) == "nord"


def test_a_second_eagle_head_has_a_lane_unless_others_are_chosen(config: Path) -> None:
    def lanes(**flags: str) -> list[str]:
        return [lane.name for lane in load_settings(flags).lanes]

    assert lanes() == ["ar", "draft", "medusa", "eagle"]
    assert lanes(eagle1="./head") == ["ar", "draft", "medusa", "eagle", "eagle1"]
    assert lanes(eagle1="./head", strategies="ar,eagle") == ["ar", "eagle"]
    assert lanes(family="smollm2") == ["ar", "draft", "medusa", "eagle"]
    config.write_text("eagle1 = './head'\n")
    assert lanes() == ["ar", "draft", "medusa", "eagle", "eagle1"]


def test_servers_alone_need_no_target(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.cli import chat as screen

    class Begun(Exception):
        pass

    def begin(*_: object) -> None:
        raise Begun

    config.write_text("target = './away'\n")
    monkeypatch.setattr(screen, "SessionProcess", begin)
    with pytest.raises(Begun):
        screen.open_screen(load_settings({"server": ["http://localhost:1"]}))


@pytest.mark.parametrize("flags", [{"draft": "./away"}, {"strategies": "draft:checkpoint=./away"}])
def test_so_does_a_drafter_that_is_nowhere(
    config: Path, monkeypatch: pytest.MonkeyPatch, flags: dict[str, str]
) -> None:
    from app.cli import chat as screen

    monkeypatch.setattr(screen, "SessionProcess", None)
    with pytest.raises(InputError, match="no folder ./away: give a .* folder or a hub id"):
        screen.open_screen(load_settings(flags))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("[keys]\nview.phantoms = 'x'\n", "there is no action 'view.phantoms'"),
        ("theme = 'pink'\n", "there is no theme 'pink'"),
    ],
)
def test_what_is_wrong_of_the_screen_stops_it_before_anything_begins(
    config: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, why: str
) -> None:
    from app.cli import chat as screen

    monkeypatch.setattr(screen, "SessionProcess", None)
    config.write_text(wrong)
    with pytest.raises(InputError, match=why):
        screen.open_screen(load_settings({}))


def test_the_environment_takes_plain_text_and_empty_means_not_set(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECCHAT_STOP", "END")
    monkeypatch.setenv("SPECCHAT_TARGET", "")
    monkeypatch.setenv("SPECCHAT_THREADS", "3")
    settings = load_settings({})
    assert settings.stop == ("END",)
    assert settings.models.target is None and settings.models.threads == 3
    config.write_text('stop = ["a", "b"]')
    monkeypatch.delenv("SPECCHAT_STOP")
    assert load_settings({}).stop == ("a", "b")


def test_gamma_is_a_number_or_auto(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings({}).params.gamma is None
    config.write_text('gamma = "auto"')
    assert load_settings({}).params.gamma == "auto"
    config.write_text("gamma = 3")
    assert load_settings({}).params.gamma == 3
    monkeypatch.setenv("SPECCHAT_GAMMA", "auto")
    assert load_settings({}).params.gamma == "auto"
    assert load_settings({"gamma": "4"}).params.gamma == 4
    for wrong in ("most", "65", "-1", "2.5"):
        with pytest.raises(InputError, match="^--gamma: must be auto or a whole number from 0"):
            load_settings({"gamma": wrong})


def test_strategies_may_repeat_with_settings_of_their_own() -> None:
    pinned = parse_strategies("eagle1:top-p=0.9:eagle_top_k=2,medusa:acceptance=typical:delta=0.1")
    assert [lane.overrides for lane in pinned] == [
        {"top_p": 0.9, "eagle_top_k": 2},
        {"acceptance": "typical", "delta": 0.1},
    ]
    assert parse_strategies("ar, draft:gamma=2,draft:gamma=auto,lookup,lookup") == (
        LaneSpec("ar", "ar"),
        LaneSpec("draft", "draft:gamma=2", {"gamma": 2}),
        LaneSpec("draft", "draft:gamma=auto", {"gamma": "auto"}),
        LaneSpec("lookup", "lookup"),
        LaneSpec("lookup", "lookup#2"),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an empty strategy"),
        ("ar,,draft", "an empty strategy"),
        ("magic", "unknown strategy 'magic'; choose from ar, draft"),
        ("draft:beta=2", "unknown setting 'beta'"),
        ("draft:gamma=", "gamma must be auto or a whole number"),
        ("draft:gamma=most", "gamma must be auto or a whole number"),
        ("draft:gamma=-1", "gamma must be auto or a whole number"),
        ("draft:gamma=65", "gamma must be auto or a whole number from 0 to 64"),
        ("ar:gamma=2", "'ar:gamma=2': gamma does nothing there; its own may be temperature, top_p"),
        ("draft:epsilon=0.2", "epsilon does nothing there"),
        ("draft:gamma=2:gamma=3", "gamma is given twice"),
        ("ar:temperature=hot", "temperature: input should be a valid number.*not 'hot'"),
        ("ar:temperature=-1", "temperature: input should be greater than or equal to 0, not '-1'"),
        ("ar:top-p", "top_p: input should be a valid number"),
        ("medusa:acceptance=maybe", "acceptance: input should be 'exact' or 'typical'"),
    ],
)
def test_bad_strategies(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parse_strategies(text)


def test_a_preset_is_no_family(config: Path) -> None:
    with pytest.raises(InputError, match="no preset “demo”; .*: --family$"):
        load_settings({"preset": "demo"})
    config.write_text('preset = "demo"')
    with pytest.raises(InputError, match="^preset in .*: there is no such setting; .* --preset$"):
        load_settings({})
