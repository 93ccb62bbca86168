#!/usr/bin/env python3
"""Exports networks that run many times over one state by torch, and compares their pictures with those of torch in double.

    tests/conformance/generated_pictures.py FOLDER              # all of these:
    tests/conformance/generated_pictures.py FOLDER diffusion    # 20 steps of a U-Net (diffusers), then its VAE
    tests/conformance/generated_pictures.py FOLDER memory       # SAM 2's memory (transformers) over 8 frames

Needs torch, onnx, onnxruntime, diffusers, transformers and the Python package of Vellum. The networks are small, their weights random
numbers from a seed. What a step hands to the next (latents, the memory of earlier frames) is state of the session and stays on
the device; ONNX Runtime gets it from the caller. Fails if a picture of Vellum is further from that of torch in double than
four times ONNX Runtime's, or than 1e-4 of its range.
"""
import argparse
import copy
import pathlib
import sys
import time
import warnings

import diffusers
import numpy as np
import onnxruntime
import torch
import transformers
from transformers.models.sam2_video import modeling_sam2_video as sam2

import vellum
from generated_tokens import categories, estimated

STEPS, FRAMES = 20, 8


def with_factors(module):
    """The module with scales and biases of its normalisations as training would leave them, not ones and zeros."""
    for part in module.modules():
        if isinstance(part, (torch.nn.GroupNorm, torch.nn.LayerNorm)):
            torch.nn.init.uniform_(part.weight, 0.5, 1.5)
            torch.nn.init.uniform_(part.bias, -0.5, 0.5)
    return module.eval()


class Case:
    """A network that runs once for each element of `runs`. The output `state + ".next"` is the next input `state`."""

    def __init__(self, name, module, state, first, runs, result, last=None):
        self.name, self.module = name, with_factors(module)
        self.state, self.first = state, first  # the state's name, and its value before the first run
        self.runs = runs        # the other inputs of each run, by name
        self.result = result    # the output that is looked at; the state itself if only its last value is
        self.last = last and with_factors(last)  # a network of its own, for the last state

    def inputs(self):
        return [self.state, *self.runs[0]]

    def export(self, path):
        outputs = [self.state + ".next"] + ([self.result] if self.result != self.state else [])
        export(self.module, [self.first, *self.runs[0].values()], path, self.inputs(), outputs)
        if self.last:
            export(self.last, [self.first], last_of(path), [self.state], ["picture"])


def last_of(path):
    return path.with_name(path.stem + "_last.onnx")


def export(module, arrays, path, inputs, outputs):
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(torch.from_numpy(array) for array in arrays), path, dynamo=False, opset_version=17,
                          input_names=inputs, output_names=outputs)


class Denoise(torch.nn.Module):
    """A step of DDIM (Song et al. 2021) without added noise; `kept` is the share of the signal before and after it."""

    def __init__(self, unet):
        super().__init__()
        self.unet = unet

    def forward(self, latents, timestep, kept, context):
        noise = self.unet(latents, timestep, context).sample
        signal = (latents - (1 - kept[0]).sqrt() * noise) / kept[0].sqrt()
        return kept[1].sqrt() * signal + (1 - kept[1]).sqrt() * noise


class Decode(torch.nn.Module):
    def __init__(self, vae):
        super().__init__()
        self.vae = vae

    def forward(self, latents):
        return self.vae.decode(latents / self.vae.config.scaling_factor).sample


def diffusion():
    unet = diffusers.UNet2DConditionModel(
        sample_size=16, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=32, attention_head_dim=8,
        norm_num_groups=8, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))
    vae = diffusers.AutoencoderKL(
        block_out_channels=(16, 32), norm_num_groups=8, latent_channels=4, down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2)
    random = np.random.default_rng(5)
    context = random.standard_normal((1, 7, 32), np.float32)
    times = np.linspace(981, 31, STEPS).round()
    kept = np.cumprod(1 - np.linspace(0.00085**0.5, 0.012**0.5, 1000)**2)
    after = [*kept[times[1:].astype(int)], 1.0]
    runs = [{"timestep": np.array([t], np.float32), "kept": np.array([kept[int(t)], k], np.float32), "context": context}
            for t, k in zip(times, after)]
    first = random.standard_normal((1, 4, 16, 16), np.float32)
    return Case("diffusion", Denoise(unet), "latents", first, runs, "latents", Decode(vae))


class Frame(torch.nn.Module):
    """Features of a frame attend to the memory of earlier ones; they and their mask become the newest memory."""
    slots, side = 4, 8

    def __init__(self, config):
        super().__init__()
        width = config.memory_attention_hidden_size
        self.features = torch.nn.Sequential(torch.nn.Conv2d(3, width, 16, 16), torch.nn.GELU(), torch.nn.Conv2d(width, width, 1))
        self.attention = sam2.Sam2VideoMemoryAttention(config)
        self.encoder = sam2.Sam2VideoMemoryEncoder(config)
        self.head = torch.nn.Conv2d(width, 1, 1)
        channels = config.memory_encoder_output_channels
        self.when = torch.nn.Parameter(0.1 * torch.randn(self.slots, 1, 1, channels))
        places = sam2.Sam2VideoPositionEmbeddingSine(width // 2, normalize=True)
        self.register_buffer("places", self.tokens(places((1, width, self.side, self.side), "cpu", torch.float32)))
        places = sam2.Sam2VideoPositionEmbeddingSine(channels // 2, normalize=True)
        self.register_buffer("old_places", self.tokens(places((1, channels, self.side, self.side), "cpu", torch.float32)))

    @staticmethod
    def tokens(picture):
        return picture.flatten(2).permute(2, 0, 1)

    def forward(self, memory, frame):
        features = self.features(frame)
        where = (self.old_places[None] + self.when).flatten(0, 1)
        seen = self.attention(self.tokens(features), memory, self.places, where)
        seen = seen.reshape(self.side, self.side, -1).permute(2, 0, 1)[None]
        mask = torch.nn.functional.interpolate(self.head(seen), scale_factor=16, mode="bilinear")
        newest, _ = self.encoder(features, 20 * mask.sigmoid() - 10)
        return torch.cat([memory[self.side * self.side:], self.tokens(newest)]), mask


def memory():
    config = transformers.Sam2VideoConfig(
        memory_attention_hidden_size=64, memory_attention_num_layers=2, memory_attention_feed_forward_hidden_size=128,
        memory_attention_rope_feat_sizes=[Frame.side, Frame.side], memory_encoder_hidden_size=64,
        memory_encoder_output_channels=64, mask_downsampler_embed_dim=64, memory_fuser_embed_dim=64,
        memory_fuser_intermediate_dim=128, memory_fuser_layer_scale_init_value=0.5)
    config._attn_implementation = "eager"
    size = 16 * Frame.side
    x, y = np.meshgrid(np.arange(size), np.arange(size))
    frames = []
    for i in range(FRAMES):  # a bright disc that moves
        disc = 1.0 * ((x - 30 - 8 * i)**2 + (y - 50 - 3 * i)**2 < 400)
        noise = np.random.default_rng(i).standard_normal((3, size, size))
        frames.append({"frame": (2 * disc - 1 + 0.2 * noise)[None].astype(np.float32)})
    first = np.zeros((Frame.slots * Frame.side**2, 1, 64), np.float32)
    return Case("memory", Frame(config), "memory", first, frames, "mask")


CASES = {"diffusion": diffusion, "memory": memory}


def pictures_of(case, step, last):
    """The results of all runs of step(state, inputs), which returns the next state and the result; last(state) follows."""
    state, results = case.first, []
    for inputs in case.runs:
        state, result = step(state, inputs)
        results.append(result)
    return np.concatenate(results) if case.last is None else last(state)


def by_torch(case):
    double = copy.deepcopy(case.module).double()
    last = copy.deepcopy(case.last).double() if case.last else None

    def tensors(arrays):
        return (torch.from_numpy(np.asarray(array)).double() for array in arrays)

    def step(state, inputs):
        with torch.no_grad():
            results = double(*tensors([state, *inputs.values()]))
        results = [tensor.numpy() for tensor in (results if isinstance(results, tuple) else [results])]
        return results[0], results[-1]

    def decode(state):
        with torch.no_grad():
            return last(*tensors([state])).numpy()
    return pictures_of(case, step, decode)


def by_onnxruntime(case, path):
    def session(file):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    steps, times = session(path), []

    def step(state, inputs):
        before = time.process_time()
        results = steps.run(None, {case.state: state} | inputs)
        times.append(time.process_time() - before)
        return results[0], results[-1]
    return pictures_of(case, step, lambda state: session(last_of(path)).run(None, {case.state: state})[0]), 1e3 * min(times)


def state_of(case):
    return f"{case.state}={case.state}.next"


def by_vellum(case, path):
    session = vellum.Session(str(path), state=state_of(case))
    session.set_state(case.state, case.first)
    times = []

    def step(_, inputs):
        before = time.process_time()
        results = session.run(inputs)
        times.append(time.process_time() - before)
        return None, results.get(case.result)

    def decode(_):
        return vellum.Session(str(last_of(path))).run({case.state: session.state(case.state)})["picture"]
    return pictures_of(case, step, decode), 1e3 * min(times), session


def check(case, folder):
    """Prints a row of docs/generate.md. Returns whether Vellum's pictures are right."""
    path = folder / f"{case.name}.onnx"
    case.export(path)
    expected = by_torch(case)
    found, ms, session = by_vellum(case, path)
    other, ort_ms = by_onnxruntime(case, path)
    scale = np.abs(expected).max()
    error, ort_error = (np.abs(picture - expected).max() / scale for picture in (found, other))
    estimate = vellum.estimate_memory(str(path), device=vellum.Device(), state=state_of(case))
    sizes = [f"{size:,}" + (f" ({guess:,})" if guess != size else "")
             for size, guess in zip(categories(session.memory()), estimated(estimate))]
    row = [case.name, str(len(case.runs)), str(session.dispatch_count), *sizes, f"{error:.0e}", f"{ort_error:.0e}",
           f"{ms:.1f} ms", f"{ort_ms:.1f} ms"]
    print("| " + " | ".join(row) + " |", flush=True)
    if not np.isfinite(error) or error > max(4 * ort_error, 1e-4):
        print(f"{case.name}: Vellum is {error:.2e} from torch in double, ONNX Runtime {ort_error:.2e}", file=sys.stderr)
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    transformers.logging.set_verbosity_error()
    print("| network | runs | dispatches | weights | state | inputs, outputs | intermediates | error | of ONNX Runtime | a run | "
          "ONNX Runtime |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    passed = True
    for name in options.cases or CASES:
        torch.manual_seed(1)
        passed &= check(CASES[name](), options.folder)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
