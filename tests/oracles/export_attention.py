#!/usr/bin/python3
"""Exports a small transformer whose number of tokens is open, with what torch computes for one number of them.

OUT/ holds model.onnx (input `tokens`: 1 x sequence x width, output of the same shape), input.npy and output.npy. The
weights are seeded. To see how memory grows with the sequence, with attention fused and decomposed:

    vellum plan OUT/model.onnx --shape tokens=1x1024x64
    vellum plan OUT/model.onnx --shape tokens=1x1024x64 --disable-pass fuse_attention
"""
import argparse
import pathlib
import warnings

import numpy
import torch
from torch import nn


class Block(nn.Module):
    """A transformer's block, normalised before each half, with attention in plain products."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def attend(self, tokens):
        batch, length, width = tokens.shape
        parts = self.qkv(tokens).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, tokens):
        tokens = tokens + self.attend(self.first(tokens))
        return tokens + self.outer(nn.functional.gelu(self.inner(self.second(tokens))))


def main():
    parser = argparse.ArgumentParser(description="Exports a small transformer with an open number of tokens.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=50, help="of input.npy and output.npy")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    network = nn.Sequential(*[Block(arguments.width, arguments.heads) for _ in range(arguments.blocks)]).eval()
    tokens = torch.randn(1, arguments.tokens, arguments.width)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks
        result = network(tokens)
        torch.onnx.export(network, tokens, str(arguments.out / "model.onnx"), opset_version=arguments.opset,
                          input_names=["tokens"], output_names=["output"], dynamic_axes={"tokens": {1: "sequence"}})
    numpy.save(arguments.out / "input.npy", tokens.numpy())
    numpy.save(arguments.out / "output.npy", result.numpy())


if __name__ == "__main__":
    main()
