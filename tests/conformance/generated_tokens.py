#!/usr/bin/env python3
"""Exports small decoders by torch and transformers, and generates tokens with Vellum, ONNX Runtime and torch in double.

    tests/conformance/generated_tokens.py FOLDER                  # Llama's, TrOCR's and SmolVLM's shape
    tests/conformance/generated_tokens.py FOLDER llama --tokens 64 --exporter dynamo

Needs torch, onnx, onnxruntime, transformers and the Python package of Vellum. Weights are random numbers from a seed. Each
decoder's file has inputs past.N.key and past.N.value and outputs present.N.key and present.N.value, which torch's exporter
concatenates; in Vellum they are state of a fixed capacity (SessionOptions::state_capacity), and one session runs the prompt and
all steps. Fails if a greedy token differs from that of torch in double.
"""
import argparse
import contextlib
import copy
import inspect
import io
import pathlib
import sys
import time
import warnings

import numpy as np
import onnxruntime
import torch
import transformers
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

import vellum

CAPACITY = 128


class Decoder(torch.nn.Module):
    """A causal model whose caches are inputs and outputs. `names`: of the arguments before the caches."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        given = dict(zip(self.names, values))
        past = values[len(self.names):]
        cache = DynamicCache()
        for i in range(0, len(past), 2):
            cache.update(past[i], past[i + 1], i // 2)
        result = self.model(**given, past_key_values=cache, use_cache=True)
        return (result.logits, *(tensor for layer in result.past_key_values.layers for tensor in (layer.keys, layer.values)))


class CrossDecoder(torch.nn.Module):
    """A decoder of an encoder-decoder: the keys and values of cross attention are inputs, which are computed once."""

    def __init__(self, decoder, layers):
        super().__init__()
        self.decoder, self.layers = decoder, layers

    def forward(self, input_ids, attention_mask, *tensors):
        own, cross = DynamicCache(), DynamicCache()
        for i in range(self.layers):
            own.update(tensors[2 * i], tensors[2 * i + 1], i)
            cross.update(tensors[2 * (self.layers + i)], tensors[2 * (self.layers + i) + 1], i)
        cache = EncoderDecoderCache(own, cross)
        for i in range(self.layers):
            cache.is_updated[i] = True
        states = torch.zeros(1, tensors[-1].shape[2], self.decoder.config.cross_attention_hidden_size
                             or self.decoder.config.hidden_size, dtype=tensors[0].dtype)
        result = self.decoder(input_ids=input_ids, attention_mask=attention_mask, encoder_hidden_states=states,
                              past_key_values=cache, use_cache=True)
        own = result.past_key_values.self_attention_cache
        return (result.logits, *(tensor for layer in own.layers for tensor in (layer.keys, layer.values)))


class Case:
    """A decoder, its prompt, and what its steps read beside the caches."""
    capacity = CAPACITY

    def __init__(self, name, module, names, layers, kv_heads, channels, fixed=None):
        self.name, self.module, self.names, self.layers = name, module.eval(), names, layers
        self.kv = kv_heads, channels
        self.fixed = fixed or {}  # inputs that are the same in all runs
        self.caches = [f"past.{i}.{what}" for i in range(layers) for what in ("key", "value")]

    def inputs(self, tokens, past, total):
        """Inputs of a run of `tokens` after `past` earlier ones, with a mask of `total`."""
        mask = np.zeros((1, total), np.int64)
        mask[:, :past + len(tokens)] = 1
        values = {"input_ids": np.array([tokens], np.int64), "attention_mask": mask,
                  "position_ids": np.arange(past, past + len(tokens))[None]}
        return {name: values[name] for name in self.names} | self.fixed

    def prompt_inputs(self, run):
        return self.inputs(self.prompt, 0, run.total(0, len(self.prompt))), len(self.prompt)

    prompt = [7, 3, 44, 12, 5, 60, 18]

    def export(self, path, exporter):
        past, count = 5, 3
        given = self.inputs(list(range(count)), past, past + count)
        names = list(given)
        tensors = [torch.from_numpy(given[name]) for name in self.names]
        caches = [torch.randn(1, self.kv[0], past, self.kv[1]) for _ in self.caches]
        fixed = [torch.from_numpy(given[name]) for name in self.fixed]
        presents = [name.replace("past", "present") for name in self.caches]
        axes = {name: {1: "total" if name == "attention_mask" else "tokens"} for name in self.names}
        axes |= {name: {2: "past"} for name in self.caches} | {name: {2: "total"} for name in presents}
        axes["logits"] = {1: "tokens"}
        options = dict(dynamo=False, opset_version=17, dynamic_axes=axes)
        if exporter == "dynamo":
            options = dict(dynamo=True, opset_version=23, dynamic_shapes=self.open_dimensions(), verbose=False)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.onnx.export(self.module, (*tensors, *caches, *fixed), path,
                              input_names=[*self.names, *self.caches, *self.fixed], output_names=["logits", *presents], **options)

    def open_dimensions(self):
        """As the arguments of forward() are nested."""
        auto = torch.export.Dim.AUTO
        dims = [{1: auto} for _ in self.names] + [{2: auto} for _ in self.caches] + [None for _ in self.fixed]
        own = sum(kind.kind == kind.POSITIONAL_OR_KEYWORD for kind in inspect.signature(self.module.forward).parameters.values())
        return (*dims[:own], tuple(dims[own:]))


def greedy(case, run, count):
    """The tokens that `run(inputs)`, which returns logits, generates, and the milliseconds of CPU time of each step."""
    given, past = case.prompt_inputs(run)
    tokens, times = [int(np.argmax(run(given)[0, -1]))], []
    while len(tokens) < count:
        given = case.inputs([tokens[-1]], past, run.total(past, 1))
        before = time.process_time()
        logits = run(given)
        times.append(1e3 * (time.process_time() - before))
        tokens.append(int(np.argmax(logits[0, -1])))
        past += 1
    return tokens, times


class VellumRun:
    def __init__(self, case, path, **options):
        self.case = case
        self.session = vellum.Session(str(path), state="auto", state_capacity=case.capacity, **options)

    def total(self, past, count):
        return self.case.capacity

    def __call__(self, inputs):
        return self.session.run(inputs)["logits"]


class GrowingRun:
    """Caches that the caller passes from run to run."""

    def __init__(self, case):
        self.case = case
        self.past = [np.zeros((1, case.kv[0], 0, case.kv[1]), self.dtype) for _ in case.caches]

    def total(self, past, count):
        return past + count

    def __call__(self, inputs):
        logits, *self.past = self.step(inputs)
        return logits


class OrtRun(GrowingRun):
    dtype = np.float32

    def __init__(self, case, path):
        super().__init__(case)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def step(self, inputs):
        return self.session.run(None, inputs | dict(zip(self.case.caches, self.past)))


class TorchRun(GrowingRun):
    dtype = np.float64

    def __init__(self, case):
        super().__init__(case)
        self.module = case.module.double()

    def step(self, inputs):
        def double(array):
            tensor = torch.from_numpy(np.ascontiguousarray(array))
            return tensor.double() if tensor.is_floating_point() else tensor
        with torch.no_grad():
            result = self.module(*(double(inputs[name]) for name in self.case.names), *map(double, self.past),
                                 *(double(array) for array in self.case.fixed.values()))
        return [tensor.numpy() for tensor in result]


def llama(width=64, layers=2):
    config = transformers.LlamaConfig(vocab_size=211, hidden_size=width, intermediate_size=3 * width,
                                      num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
                                      max_position_embeddings=256, initializer_range=0.3)
    names = ["input_ids", "attention_mask", "position_ids"]
    return Case("llama", Decoder(transformers.LlamaForCausalLM(config), names), names, layers, 2, width // 4)


def trocr(width=64, layers=2):
    config = transformers.TrOCRConfig(vocab_size=211, d_model=width, decoder_layers=layers, decoder_attention_heads=4,
                                      decoder_ffn_dim=3 * width, max_position_embeddings=256, init_std=0.3,
                                      cross_attention_hidden_size=width)
    model = transformers.TrOCRForCausalLM(config).eval()
    vision = transformers.ViTModel(transformers.ViTConfig(hidden_size=width, num_hidden_layers=2, num_attention_heads=4,
                                                          intermediate_size=2 * width, image_size=32, patch_size=8))
    with torch.no_grad():
        states = vision.eval()(torch.randn(1, 3, 32, 32)).last_hidden_state
        cross = {}
        for i, layer in enumerate(model.model.decoder.layers):
            for what, projection in (("key", layer.encoder_attn.k_proj), ("value", layer.encoder_attn.v_proj)):
                heads = projection(states).view(1, -1, 4, width // 4).transpose(1, 2)
                cross[f"cross.{i}.{what}"] = heads.contiguous().numpy()
    return Case("trocr", CrossDecoder(model, layers), ["input_ids", "attention_mask"], layers, 4, width // 4, cross)


class Pictures(torch.nn.Module):
    """SmolVLM's vision model and connector: a picture becomes tokens for the decoder."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    # Positions of a whole picture are the rows of the table in order; torch's exporter writes an invalid Gather for others.
    def forward(self, pixel_values):
        vision = self.model.vision_model
        patches = vision.embeddings.patch_embedding(pixel_values).flatten(2).transpose(1, 2)
        states = vision.encoder(inputs_embeds=patches + vision.embeddings.position_embedding.weight[None]).last_hidden_state
        return self.model.connector(vision.post_layernorm(states))


class TextOfEmbeddings(torch.nn.Module):
    def __init__(self, text_model, head):
        super().__init__()
        self.text_model, self.head = text_model, head

    def forward(self, past_key_values, use_cache, **given):
        result = self.text_model(**given, past_key_values=past_key_values, use_cache=use_cache)
        result.logits = self.head(result.last_hidden_state)
        return result


class SmolCase(Case):
    """The prompt is a picture between tokens; the decoder reads embeddings."""

    def __init__(self, model, layers, kv_heads, channels):
        names = ["inputs_embeds", "attention_mask", "position_ids"]
        super().__init__("smolvlm", Decoder(TextOfEmbeddings(model.model.text_model, model.lm_head), names), names, layers,
                         kv_heads, channels)
        self.pictures = Pictures(model.model).eval()
        self.table = model.model.text_model.embed_tokens.weight.detach().numpy().copy()
        self.picture = np.random.default_rng(1).standard_normal((1, 3, 32, 32), np.float32)
        self.features = None

    def embedded(self, tokens):
        return self.table[np.array(tokens)][None]

    def inputs(self, tokens, past, total):
        return self.of_embeddings(self.embedded(tokens), past, total)

    def of_embeddings(self, embeds, past, total):
        count = embeds.shape[1]
        mask = np.zeros((1, total), np.int64)
        mask[:, :past + count] = 1
        return {"inputs_embeds": embeds, "attention_mask": mask, "position_ids": np.arange(past, past + count)[None]}

    def prompt_inputs(self, run):
        parts = [self.embedded(self.prompt[:2]), self.features, self.embedded(self.prompt[2:])]
        embeds = np.concatenate(parts, 1)
        return self.of_embeddings(embeds, 0, run.total(0, embeds.shape[1])), embeds.shape[1]


def smolvlm(width=64, layers=2):
    text = dict(model_type="llama", vocab_size=211, hidden_size=width, intermediate_size=3 * width, num_hidden_layers=layers,
                num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.3)
    vision = dict(hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8,
                  initializer_range=0.1)
    config = transformers.SmolVLMConfig(text_config=text, vision_config=vision, scale_factor=2, image_token_id=210,
                                        pad_token_id=0)
    return SmolCase(transformers.SmolVLMForConditionalGeneration(config), layers, 2, width // 4)


CASES = {"llama": llama, "trocr": trocr, "smolvlm": smolvlm}


def picture_features(case, folder):
    """The tokens of the picture by Vellum, for a case that has one. They must be those of torch in double."""
    path = folder / f"{case.name}_pictures.onnx"
    picture = torch.from_numpy(case.picture)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(case.pictures, picture, path, dynamo=False, opset_version=17, input_names=["pixel_values"],
                          output_names=["features"])
        expected = copy.deepcopy(case.pictures).double()(picture.double()).numpy()
    features = vellum.Session(str(path)).run({"pixel_values": case.picture})["features"]
    np.testing.assert_allclose(features, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    return features


def categories(report):
    return [report.weights_bytes, report.state_bytes, report.in_out_bytes, report.allocated_bytes]


def estimated(estimate):
    return [estimate.allocated_weights, estimate.allocated_state, estimate.allocated_in_out, estimate.allocated_intermediates]


def check(case, folder, count, exporter):
    """Prints a row of docs/generate.md. Returns whether all engines generate the same tokens."""
    path = folder / f"{case.name}_{exporter}.onnx"
    if hasattr(case, "pictures"):
        case.features = picture_features(case, folder)
    case.export(path, exporter)
    run = VellumRun(case, path)
    tokens, times = greedy(case, run, count)
    shapes = {name: array.shape for name, array in case.inputs([0], 0, case.capacity).items()}
    estimate = vellum.estimate_memory(str(path), device=vellum.Device(), state="auto", state_capacity=case.capacity,
                                      input_shapes=shapes)
    # The session is prepared for the prompt, too; one of the steps alone is what the estimate is of.
    steps = vellum.Session(str(path), state="auto", state_capacity=case.capacity, input_shapes=shapes).memory()
    ort_tokens, ort_times = greedy(case, OrtRun(case, path), count)
    expected, _ = greedy(case, TorchRun(case), count)
    sizes = [f"{size:,}" + (f" ({guess:,})" if guess != size else "")
             for size, guess in zip(categories(steps), estimated(estimate))]
    row = [f"{case.name}, {exporter}", str(run.session.dispatch_count), *sizes, f"{min(times):.2f} ms", f"{min(ort_times):.2f} ms"]
    print("| " + " | ".join(row) + " |", flush=True)
    for engine, found in (("Vellum", tokens), ("ONNX Runtime", ort_tokens)):
        if found != expected:
            print(f"{case.name}, {exporter}: {engine} generates {found}, torch in double {expected}", file=sys.stderr)
    return tokens == ort_tokens == expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--exporter", choices=("legacy", "dynamo"), help="torch's exporter; default: both, one after the other")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    transformers.logging.set_verbosity_error()
    print("| model | dispatches | weights | state | inputs, outputs | intermediates | a step | ONNX Runtime |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    exporters = [options.exporter] if options.exporter else ["legacy", "dynamo"]
    passed = True
    for name in options.cases or CASES:
        for exporter in exporters:
            torch.manual_seed(1)
            passed &= check(CASES[name](), options.folder, options.tokens, exporter)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
