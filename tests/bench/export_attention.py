#!/usr/bin/env python3
"""Writes an attention network whose sequence length is open: tokens [1, length, 128] through two encoder layers.

    tests/bench/export_attention.py FILE.onnx
"""
import argparse
import math

import torch


class Layer(torch.nn.Module):
    """Attention spelt out as the textbooks do: the product of queries and keys is a tensor of length x length."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.depth = heads, width // heads
        self.to_qkv = torch.nn.Linear(width, 3 * width)
        self.project = torch.nn.Linear(width, width)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.expand, self.contract = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        qkv = self.to_qkv(self.norm1(x))
        q, k, v = (part.reshape(1, -1, self.heads, self.depth).transpose(1, 2) for part in qkv.chunk(3, dim=-1))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.depth), dim=-1)
        x = x + self.project((weights @ v).transpose(1, 2).reshape(1, -1, self.heads * self.depth))
        return x + self.contract(torch.relu(self.expand(self.norm2(x))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    network = torch.nn.Sequential(Layer(128, 4), Layer(128, 4)).eval()
    torch.onnx.export(network, torch.zeros(1, 64, 128), arguments.file, input_names=["tokens"], output_names=["y"],
                      dynamic_axes={"tokens": {1: "length"}, "y": {1: "length"}}, opset_version=17)


if __name__ == "__main__":
    main()
