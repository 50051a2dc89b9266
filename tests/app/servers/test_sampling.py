"""Every engine is asked to sample as the settings say, whatever its defaults are."""

from __future__ import annotations

import json

import pytest

from app.servers.errors import ServerError
from app.servers.sampling import NAMED, sampling_fields
from decoding.params import SamplingParams

GREEDY, HOT = SamplingParams(), SamplingParams(0.7, top_p=0.9)
SET = SamplingParams(0.7, top_k=9, min_p=0.1, repetition_penalty=1.2, presence_penalty=0.5)


@pytest.mark.parametrize("engine", NAMED)
def test_what_is_off_is_said_to_be_off(engine: str) -> None:
    fields = sampling_fields(HOT, engine)
    assert fields.items() >= {"temperature": 0.7, "top_p": 0.9, "top_k": -1, "min_p": 0.0}.items()
    repetition = "repeat_penalty" if engine == "llamacpp" else "repetition_penalty"
    off = {"temperature": 0.0, repetition: 1.0, "presence_penalty": 0.0}
    assert sampling_fields(GREEDY, engine).items() >= off.items()
    fields = sampling_fields(SET, engine)
    assert (fields["top_k"], fields["min_p"]) == (9, 0.1)
    assert (fields[repetition], fields["presence_penalty"]) == (1.2, 0.5)
    assert ("samplers" in fields) == (engine == "llamacpp")


def test_an_engine_that_is_not_known_gets_what_is_set() -> None:
    assert sampling_fields(GREEDY, "") == {"temperature": 0.0}
    assert sampling_fields(HOT, "") == {"temperature": 0.7, "top_p": 0.9}
    more = {"top_k": 9, "min_p": 0.1, "repetition_penalty": 1.2, "presence_penalty": 0.5}
    assert sampling_fields(SET, "") == {"temperature": 0.7, "top_p": 1.0, **more}


def test_transformers_serve_is_told_to_sample() -> None:
    assert sampling_fields(GREEDY, "transformers") == {"temperature": 0.0}
    config = json.loads(sampling_fields(HOT, "transformers")["generation_config"])
    assert config == {"do_sample": True, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    with pytest.raises(ServerError, match="ignores presence_penalty"):
        sampling_fields(SET, "transformers")
