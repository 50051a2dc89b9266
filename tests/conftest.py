"""What many tests need: a world that is the same on every machine, and a tiny family of models on
disk."""

from __future__ import annotations

import gc
import io
import os
import random
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HOME = TemporaryDirectory(prefix="specchat-tests-")
FOREIGN: tuple[str, ...] = ("SPECCHAT_", "XDG_", "HF_", "HUGGINGFACE_", "TRANSFORMERS_", "TEXTUAL")
FOREIGN += ("MKL_", "TTY_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TMUX", "OPENAI_")
FOREIGN += ("ACCELERATE_", "FSDP_")


def leave_the_users_world() -> None:
    """Settings, kept conversations, models and the terminal of whoever runs the tests are not
    theirs. Before any of the libraries that look at these is imported."""
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]
    for name in ("COLUMNS", "LINES"):  # readline, which pytest imports, sets them past os.environ
        os.unsetenv(name)
    os.environ.update(
        HOME=HOME.name,
        TERM="xterm-256color",
        COLORTERM="truecolor",
        TEXTUAL_ANIMATIONS="none",
        OMP_NUM_THREADS="1",  # threads only get in each other's way at these sizes
        OMP_WAIT_POLICY="PASSIVE",  # and where a test has two, who waits leaves the processor
        CUDA_VISIBLE_DEVICES="",
        HF_HUB_OFFLINE="1",
        TRITON_INTERPRET="1",  # kernels on the CPU; read when torch imports Triton
    )


leave_the_users_world()

import pytest  # noqa: E402
from hypothesis import HealthCheck  # noqa: E402
from hypothesis import settings as hypothesis_settings  # noqa: E402

from app.cli.main import main  # noqa: E402
from app.config import settings  # noqa: E402
from tests.support.processes import fake_server  # noqa: E402

hypothesis_settings.register_profile(
    "specchat",
    deadline=None,  # a busy machine is no mistake of ours
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    print_blob=True,
)
hypothesis_settings.load_profile("specchat")

pytest_plugins = ["tests.support.tiny_corpus"]

CHAT_TEMPLATE = (
    "{{ '<s>' }}{% for m in messages %}{{ '<' + m.role + '>' + m.content + '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """The whole suite runs in several processes, each with one torch thread; a part of it in this
    one, which starts sooner and can be debugged."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return min(os.cpu_count() or 1, 4) if whole else 0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Imports leave little that is garbage: it need not be looked for meanwhile."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What the libraries have made by now stays: the garbage collector need not go through it again
    and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def the_same_chances() -> None:
    """Whatever ran before, a test draws the same, on one thread."""
    random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
        torch.set_num_threads(1)


@pytest.fixture
def without_fast_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """What trains here, or in a fork of this process, computes in float32: the order of a sum then
    changes the last bits only, on every CPU."""
    import torch

    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)


@dataclass(frozen=True, slots=True)
class FamilyFolders:
    """Folders of a random target, a draft that often agrees with it, and a draft of another
    vocabulary."""

    target: str
    draft: str
    stranger: str


@pytest.fixture(scope="session")
def family_folders(tmp_path_factory: pytest.TempPathFactory) -> FamilyFolders:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    root: Path = tmp_path_factory.mktemp("family")

    def tokenizer(size: int) -> PreTrainedTokenizerFast:
        raw = Tokenizer(models.BPE())
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        raw.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=["<s>", "</s>", "<user>", "<assistant>", "<system>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        raw.train_from_iterator(["the quick brown fox and the lazy dog"] * 3, trainer)
        fast = PreTrainedTokenizerFast(
            tokenizer_object=raw, bos_token="<s>", eos_token="</s>", pad_token="</s>"
        )
        fast.chat_template = CHAT_TEMPLATE
        return fast

    def save(name: str, seed_noise: float, size: int) -> str:
        fast = tokenizer(size)
        torch.manual_seed(3)
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(fast),
                hidden_size=32,
                intermediate_size=48,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=128,
                bos_token_id=0,
                eos_token_id=1,
            )
        )
        with torch.no_grad():
            for weight in model.parameters():
                if weight.ndim > 1:
                    weight.normal_(0.0, 0.25)
            torch.manual_seed(4)
            for weight in model.parameters():
                weight.add_(torch.randn_like(weight) * seed_noise)
        model.generation_config.eos_token_id = [1, 2]
        model.save_pretrained(root / name)
        fast.save_pretrained(root / name)
        return str(root / name)

    return FamilyFolders(
        save("target", 0.0, 280), save("draft", 0.02, 280), save("stranger", 0.0, 270)
    )


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """Of a serving engine that is as good or bad as the path behind it says."""
    with fake_server() as url:
        yield url


@dataclass(frozen=True, slots=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Specchat = Callable[..., Done]


@pytest.fixture
def specchat(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Specchat:
    """The command in this process: torch is imported once, not once a test. Where no seed is
    given it is always the same one."""
    monkeypatch.setattr(settings, "config_file", lambda: tmp_path / "config.toml")
    monkeypatch.setattr("app.config.settings.secrets.randbelow", lambda end: 5)

    def run(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["specchat", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return run
