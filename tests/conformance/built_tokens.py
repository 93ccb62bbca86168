#!/usr/bin/env python3
"""Generates tokens with decoders that ONNX Runtime's model builder writes, beside ONNX Runtime and torch in double.

    tests/conformance/built_tokens.py FOLDER                     # all cases
    tests/conformance/built_tokens.py FOLDER llama gptoss

Needs torch, onnx, onnxruntime, onnxruntime-genai (its model builder), transformers and the Python package of Vellum. The networks
are small, their weights random numbers from a seed. Each is written with weights in fp32 and, where the builder can, in 4 bits.
In Vellum the caches are state of a fixed capacity, and one session runs the prompt and all steps. Fails if a greedy token differs
from that of torch in double (fp32), or from that of ONNX Runtime with activations in floats (4 bits).
"""
import argparse
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch
import transformers

import vellum

CAPACITY, VOCABULARY, PROMPT = 128, 256, [7, 3, 44, 12, 5, 60, 18]
SHAPE = dict(vocab_size=VOCABULARY, hidden_size=128, intermediate_size=384, num_hidden_layers=2, num_attention_heads=8,
             num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.2)
HEADS = SHAPE | dict(head_dim=16)

# The configuration, and the precisions that the builder has. gemma2 and gptoss have caches of a window, gptoss head sinks and
# a mixture of experts, qwen3 norms of queries and keys.
CASES = {
    "llama": (lambda: transformers.LlamaConfig(**SHAPE), ("fp32", "int4")),
    "qwen2": (lambda: transformers.Qwen2Config(**SHAPE), ("fp32", "int4")),
    "qwen3": (lambda: transformers.Qwen3Config(**HEADS), ("fp32", "int4")),
    "phi3": (lambda: transformers.Phi3Config(**SHAPE, original_max_position_embeddings=256, pad_token_id=0, bos_token_id=1,
                                             eos_token_id=2), ("fp32", "int4")),
    "gemma2": (lambda: transformers.Gemma2Config(**HEADS, sliding_window=32, query_pre_attn_scalar=16,
                                                 tie_word_embeddings=False), ("fp32", "int4")),
    "gptoss": (lambda: transformers.GptOssConfig(**HEADS | {"intermediate_size": 128}, num_local_experts=4,
                                                 num_experts_per_tok=2, sliding_window=32), ("fp32",)),
}


def write_network(config, folder):
    """Saves a network and the tokenizer that the builder asks for."""
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    words = tokenizers.models.WordLevel({f"t{i}": i for i in range(VOCABULARY)}, unk_token="t0")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(words), unk_token="t0", bos_token="t1",
                                         eos_token="t2").save_pretrained(folder)


def build(network, folder, precision):
    result = subprocess.run([sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", network, "-o", folder, "-p", precision,
                             "-e", "cpu", "-c", folder / "cache"], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"the model builder fails on {network.name}: {result.stderr}")
    return folder / "model.onnx"


def greedy(run, count):
    """The tokens that `run(tokens, past)` generates, and its logits for each of them."""
    tokens, logits, given, past = [], [], PROMPT, 0
    while len(tokens) < count:
        logits.append(run(given, past))
        past += len(given)
        given = [int(np.argmax(logits[-1]))]
        tokens += given
    return tokens, np.array(logits)


def vellum_run(path):
    session = vellum.Session(str(path), state="auto", state_capacity=CAPACITY)

    def run(tokens, past):
        mask = np.ones((1, past + len(tokens)), np.int64)
        return session.run({"input_ids": np.array([tokens]), "attention_mask": mask})["logits"][0, -1]
    return run


def onnxruntime_run(path, config):
    """With activations in floats: by default the builder has products of 4 bits round them to 8 bits."""
    model = onnx.load(path)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "accuracy_level":
                attribute.i = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    heads, width = config.num_key_value_heads, getattr(config, "head_dim", config.hidden_size // config.num_attention_heads)
    # Caches of a window have a fixed capacity.
    past_of = {value.name: np.zeros((1, heads, CAPACITY if "sliding" in str(value.shape[2]) else 0, width), np.float32)
               for value in session.get_inputs() if value.name.startswith("past_key_values")}
    names = [value.name for value in session.get_outputs()]

    def run(tokens, past):
        inputs = {"input_ids": np.array([tokens]), "attention_mask": np.ones((1, past + len(tokens)), np.int64)}
        results = dict(zip(names, session.run(None, inputs | past_of)))
        past_of.update({name: results[name.replace("past_key_values", "present")] for name in past_of})
        return results["logits"][0, -1]
    return run


def torch_run(network):
    model = transformers.AutoModelForCausalLM.from_pretrained(network, dtype=torch.float64, attn_implementation="eager",
                                                              experts_implementation="eager").eval()
    seen = []

    def run(tokens, past):
        seen.extend(tokens)
        with torch.no_grad():
            return model(torch.tensor([seen])).logits[0, -1].numpy()
    return run


def check(name, folder, count):
    make, precisions = CASES[name]
    torch.manual_seed(1)
    config, network = make(), folder / name
    write_network(config, network)
    passed = True
    for precision in precisions:
        path = build(network, folder / f"{name}-{precision}", precision)
        tokens, logits = greedy(vellum_run(path), count)
        reference = torch_run(network) if precision == "fp32" else onnxruntime_run(path, config)
        expected, exact = greedy(reference, count)
        error = np.abs(logits - exact).max() / np.abs(exact).max()
        print(f"| {name}, {precision} | {len(set(expected))} | {error:.0e} |", flush=True)
        if len(set(expected)) < 8:
            sys.exit(f"{name}: a loop of few tokens would hide faults")
        if tokens != expected:
            print(f"{name}, {precision}: {tokens}, expected {expected}", file=sys.stderr)
            passed = False
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--tokens", type=int, default=64)
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    print("| model | different tokens | error of logits |\n| --- | ---: | ---: |")
    return 0 if all([check(name, options.folder, options.tokens) for name in options.cases or CASES]) else 1


if __name__ == "__main__":
    sys.exit(main())
