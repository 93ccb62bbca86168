"""Networks of many small tensors, for small_tensor_times.py: a few layers of each kind, with seeded weights.

rwkv            4 layers of RWKV-4 on 64 tokens: exponential means over the tokens before, token by token
point_matcher   features of two pictures matched as SuperGlue does: attention within and between them, then 20 steps of Sinkhorn
bilstm, bigru   two recurrent layers in both directions over 100 steps
rtdetr_decoder  3 layers of RT-DETR's decoder: 100 queries attend to each other, and sample three maps of features
yolo12n         a detector's trunk and head with attention within areas, of YOLO12n's widths, on 160 x 160
"""
import math

import torch
from torch import nn
from torch.nn import functional


class TimeMix(nn.Module):
    """For each channel the mean of all values so far, weighted by exp(key) and by a decay per token. The running sums are kept
    relative to the largest exponent, so that none overflows."""

    def __init__(self, width):
        super().__init__()
        self.mixes = nn.Parameter(torch.rand(3, width))
        self.decay, self.first = nn.Parameter(torch.rand(width) - 1), nn.Parameter(torch.rand(width))
        self.key, self.value, self.gate, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        before = functional.pad(x, (0, 0, 1, -1))
        mixed = [x * mix + before * (1 - mix) for mix in self.mixes]
        key, value, gate = self.key(mixed[0]), self.value(mixed[1]), torch.sigmoid(self.gate(mixed[2]))
        decay = -torch.exp(self.decay)
        top, below = torch.zeros_like(key[:, 0]), torch.zeros_like(key[:, 0])
        largest = torch.full_like(key[:, 0], -1e38)
        means = []
        for t in range(x.shape[1]):
            k, v = key[:, t], value[:, t]
            here = torch.maximum(largest, self.first + k)
            old, new = torch.exp(largest - here), torch.exp(self.first + k - here)
            means.append((old * top + new * v) / (old * below + new))
            here = torch.maximum(largest + decay, k)
            old, new = torch.exp(largest + decay - here), torch.exp(k - here)
            top, below, largest = old * top + new * v, old * below + new, here
        return self.out(gate * torch.stack(means, 1))


class ChannelMix(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mixes = nn.Parameter(torch.rand(2, width))
        self.key, self.value = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, x):
        before = functional.pad(x, (0, 0, 1, -1))
        key, gate = (x * mix + before * (1 - mix) for mix in self.mixes)
        return torch.sigmoid(self.gate(gate)) * self.value(torch.relu(self.key(key)) ** 2)


class Rwkv(nn.Module):
    def __init__(self, width=128, layers=4):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(width), TimeMix(width), nn.LayerNorm(width), ChannelMix(width)]) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for norm_1, tokens, norm_2, channels in self.layers:
            x = x + tokens(norm_1(x))
            x = x + channels(norm_2(x))
        return self.norm(x)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, source):
        q, k, v = self.split(self.query(x)), self.split(self.key(source)), self.split(self.value(source))
        weights = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]), -1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))


class MatcherLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = Attention(width, 4)
        self.update = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.LayerNorm(2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x, source):
        return x + self.update(torch.cat([x, self.attention(x, source)], 2))


class PointMatcher(nn.Module):
    """Takes positions and scores of both pictures' points, (x, y, score), and their descriptors."""

    def __init__(self, width=64, layers=8, steps=20):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, width))
        self.layers = nn.ModuleList(MatcherLayer(width) for _ in range(layers))
        self.out = nn.Linear(width, width)
        self.unmatched = nn.Parameter(torch.tensor(1.0))
        self.steps = steps

    def transport(self, scores):
        batch, m, n = scores.shape
        column, row = self.unmatched.expand(batch, m, 1), self.unmatched.expand(batch, 1, n + 1)
        scores = torch.cat([torch.cat([scores, column], 2), row], 1)
        norm = -math.log(m + n)
        mu = torch.tensor([norm] * m + [math.log(n) + norm]).expand(batch, m + 1)
        nu = torch.tensor([norm] * n + [math.log(m) + norm]).expand(batch, n + 1)
        u, v = torch.zeros_like(mu), torch.zeros_like(nu)
        for _ in range(self.steps):
            u = mu - torch.logsumexp(scores + v[:, None, :], 2)
            v = nu - torch.logsumexp(scores + u[:, :, None], 1)
        return scores + u[:, :, None] + v[:, None, :] - norm

    def forward(self, points_a, points_b, a, b):
        a, b = a + self.encode(points_a), b + self.encode(points_b)
        for index, layer in enumerate(self.layers):
            crosses = index % 2 == 1
            a, b = layer(a, b if crosses else a), layer(b, a if crosses else b)
        a, b = self.out(a), self.out(b)
        return self.transport(a @ b.transpose(1, 2) / math.sqrt(a.shape[-1]))


class Recurrent(nn.Module):
    def __init__(self, kind, inputs=64, width=128):
        super().__init__()
        self.layers = kind(inputs, width, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * width, 32)

    def forward(self, x):
        return self.out(self.layers(x)[0])


class SampledAttention(nn.Module):
    """Each head of each query samples `points` places of each map, around the query's box."""

    def __init__(self, width, heads, sizes, points=4):
        super().__init__()
        self.heads, self.sizes, self.points = heads, sizes, points
        self.places = nn.Linear(width, heads * len(sizes) * points * 2)
        self.weights = nn.Linear(width, heads * len(sizes) * points)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, boxes, memory):
        batch, count, width = x.shape
        levels, points = len(self.sizes), self.points
        value = self.value(memory).reshape(batch, -1, self.heads, width // self.heads)
        places = self.places(x).reshape(batch, count, self.heads, levels, points, 2)
        weights = torch.softmax(self.weights(x).reshape(batch, count, self.heads, levels * points), -1)
        centre, size = boxes[:, :, None, None, None, :2], boxes[:, :, None, None, None, 2:]
        grid = 2 * (centre + places / points * size * 0.5) - 1
        sampled = []
        for level, part in enumerate(value.split([s * s for s in self.sizes], 1)):
            side = self.sizes[level]
            picture = part.flatten(2).transpose(1, 2).reshape(batch * self.heads, -1, side, side)
            where = grid[:, :, :, level].transpose(1, 2).flatten(0, 1)
            sampled.append(functional.grid_sample(picture, where, align_corners=False))
        weights = weights.transpose(1, 2).reshape(batch * self.heads, 1, count, levels * points)
        mixed = (torch.stack(sampled, -2).flatten(-2) * weights).sum(-1)
        return self.out(mixed.reshape(batch, width, count).transpose(1, 2))


def inverse_sigmoid(x):
    x = x.clamp(0, 1)
    return torch.log(x.clamp(min=1e-5) / (1 - x).clamp(min=1e-5))


class DecoderLayer(nn.Module):
    def __init__(self, width, sizes):
        super().__init__()
        self.attention, self.sampling = Attention(width, 8), SampledAttention(width, 8, sizes)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x, position, boxes, memory):
        x = self.norms[0](x + self.attention(x + position, x + position))
        x = self.norms[1](x + self.sampling(x + position, boxes, memory))
        return self.norms[2](x + self.feed(x))


class RtdetrDecoder(nn.Module):
    def __init__(self, width=128, layers=3, sizes=(20, 10, 5)):
        super().__init__()
        perceptron = lambda first, last: nn.Sequential(nn.Linear(first, width), nn.ReLU(), nn.Linear(width, last))
        self.layers = nn.ModuleList(DecoderLayer(width, sizes) for _ in range(layers))
        self.position = perceptron(4, width)
        self.boxes = nn.ModuleList(perceptron(width, 4) for _ in range(layers))
        self.classes = nn.Linear(width, 80)

    def forward(self, x, boxes, memory):
        boxes = torch.sigmoid(boxes)
        for layer, refine in zip(self.layers, self.boxes):
            x = layer(x, self.position(boxes), boxes, memory)
            boxes = torch.sigmoid(refine(x) + inverse_sigmoid(boxes))
        return torch.cat([boxes, torch.sigmoid(self.classes(x))], 2)


def conv(inputs, outputs, size=1, stride=1, groups=1, active=True):
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.SiLU()] if active else []))


class AreaAttention(nn.Module):
    """Attention among the positions of each of `areas` strips of the map."""

    def __init__(self, width, areas):
        super().__init__()
        self.areas, self.heads = areas, width // 32
        self.qkv, self.out = conv(width, 3 * width, active=False), conv(width, width, active=False)
        self.position = conv(width, width, 7, groups=width, active=False)
        self.feed = nn.Sequential(conv(width, 2 * width), conv(2 * width, width, active=False))

    def mix(self, x):
        batch, width, height, columns = x.shape
        qkv = self.qkv(x).flatten(2).transpose(1, 2).reshape(batch * self.areas, -1, 3 * width)
        q, k, v = qkv.reshape(qkv.shape[0], -1, self.heads, 96).permute(0, 2, 3, 1).split(32, 2)
        weights = torch.softmax(q.transpose(2, 3) @ k / math.sqrt(32), -1)
        to_map = lambda y: y.permute(0, 3, 1, 2).reshape(batch, height, columns, width).permute(0, 3, 1, 2)
        return self.out(to_map(v @ weights.transpose(2, 3)) + self.position(to_map(v)))

    def forward(self, x):
        x = x + self.mix(x)
        return x + self.feed(x)


class Stage(nn.Module):
    def __init__(self, inputs, outputs, make_block, blocks=2):
        super().__init__()
        hidden = max(outputs // 2, 32)
        self.first, self.last = conv(inputs, hidden), conv((1 + blocks) * hidden, outputs)
        self.blocks = nn.ModuleList(make_block(hidden) for _ in range(blocks))

    def forward(self, x):
        parts = [self.first(x)]
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(conv(width, width // 2, 3), conv(width // 2, width, 3))

    def forward(self, x):
        return x + self.layers(x)


class Yolo12n(nn.Module):
    def __init__(self, classes=80):
        super().__init__()
        areas = lambda count: lambda width: nn.Sequential(AreaAttention(width, count), AreaAttention(width, count))
        self.stem = nn.Sequential(conv(3, 16, 3, 2), conv(16, 32, 3, 2), Stage(32, 64, Residual, 1), conv(64, 64, 3, 2))
        self.third = Stage(64, 128, Residual, 1)
        self.fourth = nn.Sequential(conv(128, 128, 3, 2), Stage(128, 128, areas(4)))
        self.fifth = nn.Sequential(conv(128, 256, 3, 2), Stage(256, 256, areas(1)))
        self.up = nn.ModuleList([Stage(384, 128, Residual, 1), Stage(256, 64, Residual, 1)])
        self.heads = nn.ModuleList(
            nn.Sequential(conv(width, 64, 3), nn.Conv2d(64, 64 + classes, 1)) for width in (64, 128, 256))

    def forward(self, x):
        third = self.third(self.stem(x))
        fourth = self.fourth(third)
        fifth = self.fifth(fourth)
        double = lambda y: functional.interpolate(y, scale_factor=2.0, mode="nearest")
        middle = self.up[0](torch.cat([double(fifth), fourth], 1))
        fine = self.up[1](torch.cat([double(middle), third], 1))
        levels = [head(y).flatten(2) for head, y in zip(self.heads, (fine, middle, fifth))]
        return self.decode(torch.cat(levels, 2), [y.shape[2] for y in (fine, middle, fifth)])

    def decode(self, y, sides):
        distances = torch.softmax(y[:, :64].reshape(1, 4, 16, -1), 2)
        near, far = (distances * torch.arange(16.0)[None, None, :, None]).sum(2).split(2, 1)
        middles = {s: torch.arange(s) + 0.5 for s in sides}
        centres = torch.cat([torch.stack([middles[s].repeat(s), middles[s].repeat_interleave(s)]) for s in sides], 1)
        strides = torch.cat([torch.full((s * s,), 160.0 / s) for s in sides])
        low, high = centres - near, centres + far
        return torch.cat([(low + high) / 2 * strides, (high - low) * strides, torch.sigmoid(y[:, 64:])], 1)


# The constructor of each network, and the shapes of its inputs.
NETWORKS = {
    "rwkv": (Rwkv, [(1, 64, 128)]),
    "point_matcher": (PointMatcher, [(1, 100, 3), (1, 90, 3), (1, 100, 64), (1, 90, 64)]),
    "bilstm": (lambda: Recurrent(nn.LSTM), [(1, 100, 64)]),
    "bigru": (lambda: Recurrent(nn.GRU), [(1, 100, 64)]),
    "rtdetr_decoder": (RtdetrDecoder, [(1, 100, 128), (1, 100, 4), (1, 525, 128)]),
    "yolo12n": (Yolo12n, [(1, 3, 160, 160)]),
}


def make(name):
    """The network, and its inputs: both are the same in every run."""
    torch.manual_seed(1)
    constructor, shapes = NETWORKS[name]
    return constructor().eval(), tuple(torch.randn(shape) for shape in shapes)
