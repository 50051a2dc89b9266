"""The configurations that are offered for pasting."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from app.report.engines import ENGINES, MAX_NGRAM, TENSORRT_MEDUSA, ServingConfig
from app.strategies.registry import DRAFT_MODEL, EAGLE, EAGLE_1, LOOKUP, MEDUSA, SUFFIX
from decoding.drafters.lookup import Lookup
from tests.conftest import FamilyFolders

VLLM, VLLM_MEDUSA, SGLANG, TENSORRT_LLM, TRANSFORMERS = (engine.configure for engine in ENGINES)
CHAIN = ServingConfig("big model", EAGLE, gamma=3, top_k=1, source="head", version="eagle3")
TREE = ServingConfig(
    "big model", EAGLE, gamma=6, top_k=8, nodes=32, source="head", version="eagle3"
)


def test_engines_look_up_matches_as_long_as_were_measured() -> None:
    assert signature(Lookup).parameters["max_ngram"].default == MAX_NGRAM


def options(command: str) -> dict[str, str]:
    words = shlex.split(command)
    return {word: words[place + 1] for place, word in enumerate(words) if word.startswith("--")}


@pytest.mark.parametrize(
    ("serving", "config"),
    [
        (CHAIN, {"method": "eagle3", "model": "head", "num_speculative_tokens": 3}),
        (ServingConfig("t", EAGLE_1, 2, source="head", version="eagle1"),
         {"method": "eagle", "model": "head", "num_speculative_tokens": 2}),
        (ServingConfig("t", DRAFT_MODEL, 4, source="a b"),
         {"method": "draft_model", "model": "a b", "num_speculative_tokens": 4}),
        (ServingConfig("t", DRAFT_MODEL, 4, source="s", other_tokenizer=True),
         {"method": "draft_model", "model": "s", "num_speculative_tokens": 4,
          "use_heterogeneous_vocab": True}),
        (ServingConfig("t", LOOKUP, 8),
         {"method": "ngram", "prompt_lookup_min": 1, "prompt_lookup_max": 4,
          "num_speculative_tokens": 8}),
        (ServingConfig("t", SUFFIX, 8), {"method": "suffix", "num_speculative_tokens": 8}),
    ],
)  # fmt: skip
def test_vllm_takes_json(serving: ServingConfig, config: dict[str, Any]) -> None:
    snippet = VLLM(serving)
    assert snippet is not None
    assert json.loads(options(snippet.text)["--speculative-config"]) == config


def test_only_engines_with_trees_are_offered_one() -> None:
    assert VLLM(TREE) is None and TRANSFORMERS(TREE) is None
    snippet = SGLANG(TREE)
    assert snippet is not None
    given = options(snippet.text)
    assert given["--model-path"] == "big model" and given["--speculative-algorithm"] == "EAGLE3"
    assert given["--speculative-num-steps"] == "6" and given["--speculative-eagle-topk"] == "8"
    assert given["--speculative-num-draft-tokens"] == "32"  # the root is counted
    snippet = TENSORRT_LLM(TREE)
    assert snippet is not None and "max_total_draft_tokens: 31" in snippet.text  # it is not


def test_a_chain_verifies_its_drafts_and_the_last_token() -> None:
    snippet = SGLANG(CHAIN)
    assert snippet is not None
    assert options(snippet.text)["--speculative-num-draft-tokens"] == "4"
    snippet = TENSORRT_LLM(CHAIN)
    assert snippet is not None and "max_draft_len: 3" in snippet.text
    assert "tree" not in snippet.text


def test_tensorrt_is_told_which_outputs_a_head_reads() -> None:
    snippet = TENSORRT_LLM(replace(CHAIN, aux_layers=(3, 9, 20)))
    assert snippet is not None
    assert "  eagle3_layers_to_capture: [2, 8, 19]" in snippet.text.splitlines()
    assert TENSORRT_LLM(replace(CHAIN, aux_layers=(0, 9, 20))) is None


def test_what_an_engine_cannot_do_it_is_not_offered() -> None:
    old_head = ServingConfig("t", EAGLE_1, 2, source="head", version="eagle1")
    assert TENSORRT_LLM(old_head) is None
    heads = ServingConfig("t", MEDUSA, 2, source="heads")
    assert SGLANG(heads) is None and VLLM(heads) is None and VLLM_MEDUSA(old_head) is None
    snippet = VLLM_MEDUSA(heads)
    assert snippet is not None and "later versions have no Medusa" in snippet.note


def test_sglang_verifies_no_more_than_there_are_guesses() -> None:
    few = SGLANG(replace(TREE, gamma=1, top_k=4, nodes=16))
    assert few is not None and options(few.text)["--speculative-num-draft-tokens"] == "5"


def test_a_revision_of_what_drafts_is_named_where_the_engine_takes_one() -> None:
    serving = ServingConfig("org/big@v2", DRAFT_MODEL, 4, source="org/small@abc")
    snippet = VLLM(serving)
    assert snippet is not None and options(snippet.text)["--revision"] == "v2"
    config = json.loads(options(snippet.text)["--speculative-config"])
    assert (config["model"], config["revision"]) == ("org/small", "abc")
    snippet = SGLANG(serving)
    assert snippet is not None
    given = options(snippet.text)
    assert given["--speculative-draft-model-path"] == "org/small"
    assert given["--speculative-draft-model-revision"] == "abc" and given["--revision"] == "v2"
    snippet = TRANSFORMERS(serving)
    assert snippet is not None and "from_pretrained('org/small', revision='abc')" in snippet.text
    snippet = TENSORRT_LLM(serving)  # has no field for it
    assert snippet is not None and 'speculative_model: "org/small"' in snippet.text
    assert "download org/small@abc" in snippet.note
    assert snippet.note not in str(
        TENSORRT_LLM(ServingConfig("t", DRAFT_MODEL, 4, source="org/small"))
    )


def test_how_the_models_were_loaded_is_an_option_where_the_engine_has_one() -> None:
    serving = ServingConfig(
        "org/big", DRAFT_MODEL, 4, source="org/small", kv_cache="fp8", trust_remote_code=True,
        chat_template="my chat.jinja",
    )  # fmt: skip
    for engine, cache in ((VLLM, "fp8"), (SGLANG, "fp8_e4m3")):
        snippet = engine(serving)
        assert snippet is not None and "#" not in snippet.text
        given = options(snippet.text)
        assert "--trust-remote-code" in given and given["--kv-cache-dtype"] == cache
        assert given["--chat-template"] == "my chat.jinja"
    template = "# measured with the chat template 'my chat.jinja': not in this configuration\n"
    snippet = TENSORRT_LLM(serving)
    assert snippet is not None and snippet.text.startswith(template)
    assert snippet.text.endswith("\ntrust_remote_code: true\nkv_cache_config:\n  dtype: fp8")
    snippet = TRANSFORMERS(serving)
    assert snippet is not None and "('org/small', trust_remote_code=True)" in snippet.text


def test_what_an_engine_has_no_option_for_is_said_in_a_comment() -> None:
    serving = ServingConfig(
        "t", DRAFT_MODEL, 4, source="s", quantize="nf4", quantize_draft="int8", kv_cache="int8"
    )
    told = (
        "# measured with the target's weights in nf4; the draft model's weights in int8; "
        "keys and values in int8: not in this configuration"
    )
    plain = ServingConfig("t", DRAFT_MODEL, 4, source="s")
    for engine in (VLLM, SGLANG, TENSORRT_LLM, TRANSFORMERS):
        snippet, same = engine(serving), engine(plain)
        assert snippet is not None and same is not None
        assert snippet.text.split("\n", 1) == [told, same.text]


def test_gguf_files_go_only_where_they_can_be_read(tmp_path: Path) -> None:
    of_hub = ServingConfig("org/t", DRAFT_MODEL, 4, source="org/d:Q4_K_M@v2", gguf="d-Q4_K_M.gguf")
    assert VLLM(of_hub) is None and SGLANG(of_hub) is None and TENSORRT_LLM(of_hub) is None
    call = "from_pretrained('org/d', revision='v2', gguf_file='d-Q4_K_M.gguf')"
    snippet = TRANSFORMERS(of_hub)
    assert snippet is not None and call in snippet.text
    file = tmp_path / "d.gguf"
    file.touch()
    call = f"from_pretrained({str(tmp_path)!r}, gguf_file='d.gguf')"
    for source in (file, tmp_path):
        snippet = TRANSFORMERS(
            ServingConfig("t", DRAFT_MODEL, 4, source=str(source), gguf="d.gguf")
        )
        assert snippet is not None and call in snippet.text
        served = ServingConfig(str(source), LOOKUP, 4, target_gguf="d.gguf")
        for engine in (VLLM, SGLANG):
            snippet = engine(served)
            assert snippet is not None and f" {file} " in snippet.text
    named = ServingConfig("org/t:Q4_K_M@v2", LOOKUP, 4, target_gguf="t-Q4_K_M.gguf")
    snippet = VLLM(named)
    assert snippet is not None and "serve org/t:Q4_K_M --revision v2 " in snippet.text
    assert SGLANG(named) is None
    assert VLLM(ServingConfig("org/t", LOOKUP, 4, target_gguf="t.gguf")) is None


def test_a_folder_with_an_at_sign_is_no_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heads@2").mkdir()
    snippet = VLLM_MEDUSA(ServingConfig("./big@2", MEDUSA, 4, source="heads@2"))
    assert snippet is not None
    config = json.loads(options(snippet.text)["--speculative-config"])
    assert config["model"] == "heads@2" and "revision" not in config
    assert "vllm serve ./big@2 " in snippet.text


def test_a_draft_with_another_tokenizer_is_nothing_for_engines_that_compare_ids() -> None:
    serving = ServingConfig("t", DRAFT_MODEL, 4, source="s", other_tokenizer=True)
    assert SGLANG(serving) is None and TENSORRT_LLM(serving) is None


def test_generate_takes_its_snippets(family_folders: FamilyFolders) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(family_folders.target)
    tokenizer = AutoTokenizer.from_pretrained(family_folders.target)
    inputs = tokenizer("the fox", return_tensors="pt")
    model.generation_config.update(max_new_tokens=4, pad_token_id=1)
    inputs.pop("token_type_ids", None)
    names: dict[str, Any] = {"AutoModelForCausalLM": AutoModelForCausalLM}
    names |= {"model": model, "inputs": inputs, "tokenizer": tokenizer}
    names |= {"AutoTokenizer": AutoTokenizer}
    target, stranger = family_folders.target, family_folders.stranger
    for serving in (
        ServingConfig(target, LOOKUP, 5),
        ServingConfig(target, DRAFT_MODEL, 2, source=stranger, other_tokenizer=True),
        ServingConfig(target, DRAFT_MODEL, 3, source=family_folders.draft),
    ):
        snippet = TRANSFORMERS(serving)
        assert snippet is not None
        exec(snippet.text, names)
    assert names["assistant"].generation_config.num_assistant_tokens == 3


def test_tensorrt_engines_with_medusa_are_of_some_models_alone() -> None:
    serving = ServingConfig(
        "a/b@v2", MEDUSA, 2, source="my heads", tree=((0, 1), (2,)), layers=3, model_type="qwen2",
        dtype="bfloat16",
    )  # fmt: skip
    snippet = TENSORRT_MEDUSA.configure(serving)
    assert snippet is not None and "takes no revision" in snippet.note
    convert, build, run = snippet.text.splitlines()
    given = options(convert)
    assert (given["--model_dir"], given["--medusa_model_dir"]) == ("a/b", "my heads")
    assert (given["--num_medusa_layers"], given["--model_type"]) == ("3", "qwen2")
    assert given["--dtype"] == options(build)["--gemm_plugin"] == "bfloat16"
    assert given["--output_dir"] == options(build)["--checkpoint_dir"]
    assert options(run)["--engine_dir"] == options(build)["--output_dir"]
    assert json.loads(options(run)["--medusa_choices"]) == [[0], [2], [0, 1]]
    assert TENSORRT_MEDUSA.configure(replace(serving, model_type="gemma3_text")) is None
    assert TENSORRT_MEDUSA.configure(CHAIN) is None
