#!/usr/bin/env python3
"""Exports small networks by Hugging Face's optimum, and generates tokens with Vellum and torch in double.

    tests/conformance/optimum_tokens.py FOLDER                  # all cases
    tests/conformance/optimum_tokens.py FOLDER llama trocr

Needs torch, transformers, optimum-onnx and the Python package of Vellum. Weights are random numbers from a seed. In Vellum the
caches are state of a fixed capacity. A decoder alone is one file; a decoder with cross attention is a file of two branches, between
which an input chooses (decoder_model_merged.onnx): a session without state runs the first token and computes the keys and values
of cross attention, a session with state the other tokens. Fails if a greedy token differs from that of torch in double.
"""
import argparse
import contextlib
import io
import logging
import pathlib
import sys
import warnings

import numpy as np
import torch
import transformers
from optimum.exporters.onnx import onnx_export_from_model

import vellum

CAPACITY, PROMPT, START = 128, [7, 3, 44, 12, 5, 60, 18], 1
SHAPE = dict(vocab_size=211, hidden_size=64, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4,
             max_position_embeddings=256, bos_token_id=START, eos_token_id=2, pad_token_id=0, initializer_range=0.3)
GROUPS = SHAPE | dict(num_key_value_heads=2)
GPT2 = dict(vocab_size=211, n_positions=256, n_embd=64, n_layer=2, n_head=4, bos_token_id=START, eos_token_id=2,
            initializer_range=0.3)

# gemma3 has a window in its first layer, and norms of queries and keys; opt and gpt2 have tables of positions. bloom and mpt add
# slopes to the scores (ALiBi), gpt_neo has a window in its second layer, codegen rotates a part of each head.
DECODERS = {
    "llama": lambda: transformers.LlamaConfig(**GROUPS),
    "qwen2": lambda: transformers.Qwen2Config(**GROUPS),
    "phi3": lambda: transformers.Phi3Config(**GROUPS),
    "gemma3": lambda: transformers.Gemma3TextConfig(**GROUPS, head_dim=16, sliding_window=32, tie_word_embeddings=False,
                                                    layer_types=["sliding_attention", "full_attention"]),
    "gpt2": lambda: transformers.GPT2Config(**GPT2),
    "opt": lambda: transformers.OPTConfig(vocab_size=211, hidden_size=64, ffn_dim=192, num_hidden_layers=2, num_attention_heads=4,
                                          max_position_embeddings=256, word_embed_proj_dim=64, init_std=0.3),
    "bloom": lambda: transformers.BloomConfig(vocab_size=211, hidden_size=64, n_layer=2, n_head=4, bos_token_id=START,
                                              eos_token_id=2, pad_token_id=0, initializer_range=0.5),
    "mpt": lambda: transformers.MptConfig(vocab_size=211, d_model=64, n_layers=2, n_heads=4, max_seq_len=256, expansion_ratio=3,
                                          initializer_range=0.3),
    "gpt_neo": lambda: transformers.GPTNeoConfig(**SHAPE, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]],
                                                 window_size=32),
    "codegen": lambda: transformers.CodeGenConfig(**GPT2, n_ctx=256, n_inner=192, rotary_dim=8),
}
# Decoders of pictures.
CAPTIONS = {
    "trocr": lambda: transformers.TrOCRConfig(vocab_size=211, d_model=64, decoder_layers=2, decoder_attention_heads=4,
                                              decoder_ffn_dim=192, max_position_embeddings=256, init_std=0.3,
                                              cross_attention_hidden_size=64),
    "vit_gpt2": lambda: transformers.GPT2Config(**GPT2),
}


def greedy(run, count, pieces):
    """The tokens that `run(tokens, past)`, which returns the logits of the last of them, generates after a prompt in `pieces`."""
    past = 0
    for piece in pieces:
        logits = run(piece, past)
        past += len(piece)
    tokens = [int(np.argmax(logits))]
    while len(tokens) < count:
        tokens.append(int(np.argmax(run(tokens[-1:], past))))
        past += 1
    return tokens


def export(model, folder, task):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        onnx_export_from_model(model, folder, task=task, do_validation=False)


def exact(logits):
    """A run of the whole sequence so far in torch."""
    seen = []

    def run(tokens, past):
        seen.extend(tokens)
        torch.set_default_dtype(torch.float64)  # of the masks
        with torch.no_grad():
            result = logits(torch.tensor([seen]))[0, -1].numpy()
        torch.set_default_dtype(torch.float32)
        return result
    return run


def decoder(config, folder):
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    export(model, folder, "text-generation-with-past")
    session = vellum.Session(str(folder / "model.onnx"), state="auto", state_capacity=CAPACITY)
    wanted = {info.name for info in session.inputs}

    def run(tokens, past):
        total = past + len(tokens)
        given = {"input_ids": np.array([tokens]), "attention_mask": np.ones((1, total), np.int64),
                 "position_ids": np.arange(past, total)[None]}
        return session.run({name: given[name] for name in given if name in wanted})["logits"][0, -1]
    return run, exact(lambda ids: model.double()(ids).logits)


class Caption:
    """The decoder of a picture, as the exporter merges it."""

    def __init__(self, folder, picture):
        self.path = str(folder / "decoder_model_merged.onnx")
        encoder = vellum.Session(str(folder / "encoder_model.onnx"))
        self.fixed = {"encoder_hidden_states": encoder.run({"pixel_values": picture})["last_hidden_state"]}
        self.session = None

    def __call__(self, tokens, past):
        ids = np.array([tokens])
        if past == 0:
            return self.first(ids)
        return self.session.run({"input_ids": ids} | self.fixed)["logits"][0, -1]

    def first(self, ids):
        session = vellum.Session(self.path)
        caches = {info.name: np.zeros([1 if size is None else size for size in info.shape], np.float32)
                  for info in session.inputs if info.name.startswith("past_key_values")}
        results = session.run({"input_ids": ids, "use_cache_branch": np.array([False])} | self.fixed | caches)
        self.session = vellum.Session(self.path, state="auto", state_capacity=CAPACITY,
                                      input_values={"use_cache_branch": np.array([True])})
        presents = {name: results[name.replace("past_key_values", "present")] for name in caches}
        own = {name: value for name, value in presents.items() if name in self.session.states}
        self.fixed |= {name: value for name, value in presents.items() if name not in own}
        self.session.prepare({"input_ids": (1, 1)} | {name: value.shape for name, value in self.fixed.items()})
        for name, value in own.items():
            room = np.zeros((*value.shape[:2], CAPACITY, value.shape[3]), np.float32)
            room[:, :, :value.shape[2]] = value
            self.session.set_state(name, room)
        self.session.set_state("cache_length", np.array([ids.shape[1]]))
        return results["logits"][0, -1]


def caption(config, folder):
    vision = transformers.ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32,
                                    patch_size=8)
    both = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(vision, config)
    both.decoder_start_token_id, both.pad_token_id = START, 0
    model = transformers.VisionEncoderDecoderModel(both).eval()
    export(model, folder, "image-to-text-with-past")
    picture = np.random.default_rng(1).standard_normal((1, 3, 32, 32), np.float32)
    pixels = torch.from_numpy(picture).double()
    return Caption(folder, picture), exact(lambda ids: model.double()(pixel_values=pixels, decoder_input_ids=ids).logits)


def check(name, folder, count):
    torch.manual_seed(1)
    run, reference = decoder(DECODERS[name](), folder / name) if name in DECODERS else caption(CAPTIONS[name](), folder / name)
    # The exporter's branches with caches have no causal mask, so that they run one token at a time.
    pieces = [PROMPT[:4], PROMPT[4:]] if name in DECODERS else [PROMPT]
    tokens, expected = greedy(run, count, pieces), greedy(reference, count, pieces)
    if len(set(expected)) < 8:
        sys.exit(f"{name}: a loop of few tokens would hide faults")
    print(f"{name}: {count} tokens, {len(set(expected))} different", flush=True)
    if tokens != expected:
        print(f"{name}: {tokens}, expected {expected}", file=sys.stderr)
    return tokens == expected


def main():
    cases = [*DECODERS, *CAPTIONS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", help=", ".join(cases))
    parser.add_argument("--tokens", type=int, default=64)
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)  # the exporter's
    return 0 if all([check(name, options.folder, options.tokens) for name in options.cases or cases]) else 1


if __name__ == "__main__":
    sys.exit(main())
