#!/usr/bin/env python3
"""Times a step and a prompt of one decoder of Llama's shape in Vellum and in llama.cpp's Vulkan backend, on one Vulkan device.

    tests/bench/llama_cpp_times.py FOLDER [--size 200m] [--bits 32 8 4] [--tokens 256] [--steps 10] [--rounds 2]

Needs the Python package of Vellum, and from PyPI onnx, gguf and cyllama-vulkan, which contains llama.cpp. `VK_DRIVER_FILES`
chooses the driver. Writes the network with llama_network.py and the same weights as a GGUF file: in F32, Q8_0 and Q4_0. (Its scales are
rounded to fp16 in both.) Each engine runs in a process of its own with one thread of the driver, in turns. Prints the least and
the median CPU time of a prompt of `--tokens` tokens, and of a step that has the last of them. Fails if the logits of the prompt
differ by more than `--tolerance` of the largest one: llama.cpp's caches are fp16, and some of its products.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

from llama_network import SIZES

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = ("Vellum", "llama.cpp")
FORMATS = {32: "fp32, F32", 8: "8 bits, Q8_0", 4: "4 bits, Q4_0"}
BLOCK = 32  # weights of one scale in Q8_0 and Q4_0


def timed(step, count):
    """Milliseconds of CPU time of `count` runs after one other."""
    times = []
    for _ in range(count + 1):
        begin = time.process_time()
        step()
        times.append(1e3 * (time.process_time() - begin))
    return times[1:]


def written_network(folder, bits, options, tokens):
    """The ONNX file of runs of `tokens` tokens, the last ones of a cache of --tokens."""
    path = folder / f"{options.size}_{bits}_{tokens}.onnx"
    if not path.exists():
        subprocess.run([sys.executable, HERE / "llama_network.py", path, "--size", options.size, "--bits", str(bits), "--block",
                        str(BLOCK), "--tokens", str(tokens), "--past", str(options.tokens), "--fixed-caches"], check=True,
                       stdout=subprocess.DEVNULL)
        if bits < 32:
            round_scales(path)
    return path


def round_scales(path):
    import onnx
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        place = {entry.key: entry.value for entry in tensor.external_data}
        if tensor.name.endswith(".scales") and place:
            count = int(place["length"]) // 4
            scales = np.memmap(path.parent / place["location"], np.float32, "r+", int(place["offset"]), (count,))
            scales[:] = scales.astype(np.float16)


class Weights:
    """The weights of a file of llama_network.py as GGUF has them: (outputs, inputs), in blocks if they are quantised."""

    def __init__(self, path, bits):
        import onnx
        model = onnx.load(path, load_external_data=True)
        self.tensors = {tensor.name: tensor for tensor in model.graph.initializer}
        self.bits = bits

    def array(self, name):
        import onnx
        return onnx.numpy_helper.to_array(self.tensors[name])

    def rows(self, name):
        values = self.array(f"{name}.weight")
        if self.bits == 32:
            return values if name == "embedding" else np.ascontiguousarray(values.T)
        rows = len(values)
        packed = values.reshape(rows, -1, BLOCK * self.bits // 8)
        scales = self.array(f"{name}.scales").astype(np.float16).reshape(rows, -1, 1)
        if self.bits == 8:
            integers = packed ^ 0x80  # less 128
        else:
            codes = np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:2], BLOCK)
            integers = codes[..., :16] | codes[..., 16:] << 4
        return np.concatenate([scales.view(np.uint8), integers], -1).reshape(rows, -1)


def interleaved(rows, heads):
    """Rows of queries or keys in the order in which llama.cpp rotates them: both channels of a pair side by side."""
    return rows.reshape(heads, 2, -1, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)


def write_gguf(path, onnx_path, bits, options):
    import gguf
    layers, width, heads, kv_heads, mlp, vocabulary = SIZES[options.size]
    weights = Weights(onnx_path, bits)
    kind = {32: gguf.GGMLQuantizationType.F32, 8: gguf.GGMLQuantizationType.Q8_0, 4: gguf.GGMLQuantizationType.Q4_0}[bits]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(mlp)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500000.0)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("none")

    def add(name, rows):
        writer.add_tensor(f"{name}.weight", rows, raw_dtype=kind)

    add("token_embd", weights.rows("embedding"))
    add("output", weights.rows("logits"))
    ones = np.ones(width, np.float32)
    writer.add_tensor("output_norm.weight", ones)
    for i in range(layers):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{i}.{norm}.weight", ones)
        for name, count in (("q", heads), ("k", kv_heads)):
            add(f"blk.{i}.attn_{name}", interleaved(weights.rows(f"layer{i}.{name}"), count))
        for name, source in (("attn_v", "v"), ("attn_output", "o"), ("ffn_gate", "gate"), ("ffn_up", "up"), ("ffn_down", "down")):
            add(f"blk.{i}.{name}", weights.rows(f"layer{i}.{source}"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def prompt_of(options):
    return np.random.default_rng(5).integers(0, 4096, options.tokens).tolist()


def measure_vellum(folder, bits, options):
    import vellum
    prompts, steps = (vellum.Session(str(written_network(folder, bits, options, count)), state="auto")
                      for count in (options.tokens, 1))
    tokens = np.array([prompt_of(options)], np.int64)
    logits = prompts.run({"tokens": tokens})["logits.y"].ravel()
    prompt = timed(lambda: prompts.run({"tokens": tokens}), options.prompts)
    return prompt, timed(lambda: steps.run({"tokens": tokens[:, -1:]}), options.steps), logits


def measure_llama_cpp(folder, bits, options):
    from cyllama.llama import llama_cpp
    path = folder / f"{options.size}_{bits}.gguf"
    if not path.exists():
        write_gguf(path, written_network(folder, bits, options, 1), bits, options)
    llama_cpp.disable_logging()
    llama_cpp.ggml_backend_load_all()
    given = llama_cpp.LlamaModelParams()
    given.n_gpu_layers = 99
    model = type("Model", (llama_cpp.LlamaModel,), {"n_vocab": SIZES[options.size][-1]})(str(path), given)
    wanted = llama_cpp.LlamaContextParams()
    wanted.n_ctx = wanted.n_batch = wanted.n_ubatch = options.tokens
    context = llama_cpp.LlamaContext(model, wanted)
    tokens = prompt_of(options)

    def run(new, past):
        context.memory_seq_rm(0, past, -1)
        batch = llama_cpp.LlamaBatch(n_tokens=len(new), embd=0, n_seq_max=1)
        batch.set_batch(new, past, False)
        batch.set_last_logits_to_true()
        context.decode(batch)
        return np.array(context.get_logits_ith(-1))

    logits = run(tokens, 0)
    prompt = timed(lambda: run(tokens, 0), options.prompts)
    return prompt, timed(lambda: run(tokens[-1:], options.tokens - 1), options.steps), logits


def measure(engine, bits, options):
    """In this process."""
    folder = options.folder
    prompt, step, logits = (measure_vellum if engine == "Vellum" else measure_llama_cpp)(folder, bits, options)
    np.save(folder / f"{engine}_{bits}.npy", logits)
    print(json.dumps([prompt, step]))


def measured(engine, bits, options):
    command = [sys.executable, __file__, str(options.folder), "--measure", engine, str(bits)]
    for name in ("size", "tokens", "steps", "prompts"):
        command += [f"--{name}", str(getattr(options, name))]
    # llama.cpp passes over CPU drivers that are not chosen.
    environment = {"GGML_VK_VISIBLE_DEVICES": "0", "LP_NUM_THREADS": "1"} | os.environ
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def are_close(bits, options):
    ours, theirs = (np.load(options.folder / f"{engine}_{bits}.npy") for engine in ENGINES)
    error = np.abs(ours - theirs).max() / np.abs(ours).max()
    print(f"{FORMATS[bits]}: logits differ by {error:.4f} of the largest", file=sys.stderr)
    return error <= options.tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", default="200m")
    parser.add_argument("--bits", type=int, nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--tokens", type=int, default=256, help="of a prompt; a step has the last of them")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--prompts", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=0.02)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure[0], int(options.measure[1]), options)
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| weights | engine | a step | median | a prompt | median |\n| --- | --- | ---: | ---: | ---: | ---: |")
    close = True
    for bits in options.bits:
        times = {engine: ([], []) for engine in ENGINES}
        for _ in range(options.rounds):
            for engine in ENGINES:
                for total, new in zip(times[engine], measured(engine, bits, options)):
                    total += new
        for engine, (prompts, steps) in times.items():
            columns = (f"{value:,.1f} ms" for part in (steps, prompts) for value in (min(part), statistics.median(part)))
            print(f"| {FORMATS[bits]} | {engine} | {' | '.join(columns)} |", flush=True)
        close = are_close(bits, options) and close
    return 0 if close else 1


if __name__ == "__main__":
    sys.exit(main())
