"""Small networks of kinds that no package of architectures.py has, as people write them by hand. torch, any version from 1.13.

NETWORKS: name -> (constructor, shapes of its inputs).
"""
import math

import torch
from torch import nn
from torch.nn import functional as F


def conv(inputs, outputs, kernel=3, stride=1, groups=1, activation=nn.SiLU):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs), activation())


class DistributionHead(nn.Module):
    """Boxes as distributions over distances, and classes, of two levels: the head of YOLOv8 with its anchors."""

    def __init__(self, classes=5, bins=8):
        super().__init__()
        self.classes, self.bins = classes, bins
        self.stem, self.down = conv(3, 8, stride=4), conv(8, 16, stride=2)
        self.boxes = nn.ModuleList(nn.Conv2d(c, 4 * bins, 1) for c in (8, 16))
        self.scores = nn.ModuleList(nn.Conv2d(c, classes, 1) for c in (8, 16))

    def forward(self, x):
        levels = [self.stem(x)]
        levels.append(self.down(levels[0]))
        boxes, scores, anchors, strides = [], [], [], []
        for level, box, score, stride in zip(levels, self.boxes, self.scores, (4, 8)):
            boxes.append(box(level).flatten(2))
            scores.append(score(level).flatten(2))
            height, width = level.shape[-2:]
            y, x = torch.meshgrid(torch.arange(height, dtype=level.dtype) + 0.5,
                                  torch.arange(width, dtype=level.dtype) + 0.5, indexing="ij")
            anchors.append(torch.stack((x, y), -1).view(-1, 2))
            strides.append(torch.full((height * width, 1), float(stride), dtype=level.dtype))
        anchors, strides = torch.cat(anchors).t()[None], torch.cat(strides).t()[None]
        boxes, scores = torch.cat(boxes, 2), torch.cat(scores, 2)
        n, _, places = boxes.shape
        bins = torch.arange(self.bins, dtype=boxes.dtype).view(1, self.bins, 1, 1)
        distance = (boxes.view(n, 4, self.bins, places).transpose(2, 1).softmax(1) * bins).sum(1)
        first, second = distance.chunk(2, 1)
        low, high = anchors - first, anchors + second
        return torch.cat(((low + high) / 2 * strides, (high - low) * strides, scores.sigmoid()), 1)


class SuperPoint(nn.Module):
    """Points and descriptors (DeTone et al. 2018), with suppression of neighbours by max pools."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*(conv(a, b, stride=2, activation=nn.ReLU) for a, b in ((1, 8), (8, 8), (8, 16))))
        self.points, self.descriptors = nn.Conv2d(16, 65, 1), nn.Conv2d(16, 24, 1)

    def forward(self, x):
        x = self.body(x)
        scores = F.softmax(self.points(x), 1)[:, :-1]
        n, _, h, w = scores.shape
        scores = scores.permute(0, 2, 3, 1).reshape(n, h, w, 8, 8).permute(0, 1, 3, 2, 4).reshape(n, h * 8, w * 8)
        largest = F.max_pool2d(scores[:, None], 5, 1, 2)[:, 0]
        kept = torch.where(scores == largest, scores, torch.zeros_like(scores))
        return kept, F.normalize(self.descriptors(x), p=2, dim=1)


class LinearAttention(nn.Module):
    """Tokens of two pictures with attention of linear cost (LoFTR), elu + 1 as feature map."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.merge = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, source):
        n, _, width = x.shape
        q, k, v = (layer(t).view(n, -1, self.heads, width // self.heads)
                   for layer, t in ((self.q, x), (self.k, source), (self.v, source)))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        sums = torch.einsum("nshd,nshv->nhdv", k, v / v.shape[1])
        z = 1 / (torch.einsum("nlhd,nhd->nlh", q, k.sum(1)) + 1e-6)
        y = torch.einsum("nlhd,nhdv,nlh->nlhv", q, sums, z) * v.shape[1]
        y = self.first(self.merge(y.reshape(n, -1, width)))
        return x + self.second(self.mlp(torch.cat([x, y], 2)))


class RadianceField(nn.Module):
    """Rays to colours: positional encoding, an MLP with a skip, and volume rendering by cumulative products (NeRF)."""

    def __init__(self, octaves=4):
        super().__init__()
        self.register_buffer("scales", 2.0 ** torch.arange(octaves))
        inputs = 3 * (1 + 2 * octaves)
        self.first, self.second = nn.Linear(inputs, 32), nn.Linear(32 + inputs, 32)
        self.density, self.colour = nn.Linear(32, 1), nn.Linear(32, 3)

    def forward(self, points):
        angles = (points[..., None] * self.scales).flatten(-2)
        x = torch.cat([points, torch.sin(angles), torch.cos(angles)], -1)
        h = F.relu(self.second(torch.cat([F.relu(self.first(x)), x], -1)))
        alpha = 1 - torch.exp(-F.softplus(self.density(h))[..., 0] * 0.1)
        through = torch.exp(torch.cumsum(torch.log(1 - alpha + 1e-10), -1))
        weights = alpha * torch.cat([torch.ones_like(through[..., :1]), through[..., :-1]], -1)
        return (weights[..., None] * torch.sigmoid(self.colour(h))).sum(-2)


class DiffusionBlock(nn.Module):
    """A step of a diffusion U-Net: GroupNorm, time embedding, attention over pixels, skip connections."""

    def __init__(self, width=16):
        super().__init__()
        self.enter, self.down, self.up = nn.Conv2d(3, width, 3, 1, 1), nn.Conv2d(width, width, 3, 2, 1), nn.Conv2d(2 * width, 3, 3, 1, 1)
        self.time = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, 2 * width))
        self.norm, self.second = nn.GroupNorm(4, width), nn.GroupNorm(4, width)
        self.qkv, self.out = nn.Conv1d(width, 3 * width, 1), nn.Conv1d(width, width, 1)
        self.width = width

    def forward(self, x, step):
        angles = step[:, None] * torch.exp(-math.log(1e4) * torch.arange(self.width // 2) / (self.width // 2)).to(x.dtype)[None]
        scale, shift = self.time(torch.cat([angles.cos(), angles.sin()], -1))[:, :, None, None].chunk(2, 1)
        top = self.enter(x)
        h = self.norm(self.down(F.silu(top))) * (1 + scale) + shift
        n, c, height, width = h.shape
        q, k, v = self.qkv(self.second(h).reshape(n, c, -1)).chunk(3, 1)
        scores = torch.softmax(torch.einsum("bct,bcs->bts", q * c ** -0.25, k * c ** -0.25), -1)
        h = h + self.out(torch.einsum("bts,bcs->bct", scores, v)).reshape(n, c, height, width)
        return self.up(torch.cat([F.interpolate(h, scale_factor=2.0, mode="nearest"), top], 1))


class DeformableAttention(nn.Module):
    """Tokens that sample a feature map where they decide (Deformable DETR, RT-DETR): GridSample over heads."""

    def __init__(self, width=32, heads=4, points=3):
        super().__init__()
        self.heads, self.points = heads, points
        self.offsets, self.weights = nn.Linear(width, heads * points * 2), nn.Linear(width, heads * points)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, queries, reference, feature):
        n, tokens, width = queries.shape
        h, w = feature.shape[-2:]
        value = self.value(feature.flatten(2).transpose(1, 2)).view(n, h * w, self.heads, width // self.heads)
        value = value.permute(0, 2, 3, 1).reshape(n * self.heads, width // self.heads, h, w)
        offsets = self.offsets(queries).view(n, tokens, self.heads, self.points, 2)
        places = reference[:, :, None, None, :2] + offsets / self.points * reference[:, :, None, None, 2:] * 0.5
        grid = (2 * places - 1).permute(0, 2, 1, 3, 4).flatten(0, 1)
        sampled = F.grid_sample(value, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        weights = F.softmax(self.weights(queries).view(n, tokens, self.heads, self.points), -1)
        weights = weights.transpose(1, 2).reshape(n * self.heads, 1, tokens, self.points)
        mixed = (sampled * weights).sum(-1).view(n, width, tokens).transpose(1, 2)
        return self.out(mixed)


class ConvolutionalLstm(nn.Module):
    """Pictures in a sequence through a convolutional LSTM cell, unrolled."""

    def __init__(self, width=8):
        super().__init__()
        self.width, self.gates, self.head = width, nn.Conv2d(3 + width, 4 * width, 3, 1, 1), nn.Conv2d(width, 1, 1)

    def forward(self, frames):
        n, count, _, height, size = frames.shape
        h = c = torch.zeros(n, self.width, height, size, dtype=frames.dtype)
        for t in range(count):
            i, f, o, g = torch.split(self.gates(torch.cat([frames[:, t], h], 1)), self.width, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.head(h), c


class TextRecognizer(nn.Module):
    """Columns of a strip through two bidirectional LSTMs (CRNN)."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(1, 8, activation=nn.ReLU), nn.MaxPool2d(2), conv(8, 16, activation=nn.ReLU),
                                  nn.MaxPool2d((2, 1)), nn.Conv2d(16, 16, (4, 1)))
        self.recurrent, self.head = nn.LSTM(16, 12, 2, bidirectional=True), nn.Linear(24, 11)

    def forward(self, x):
        columns = self.body(x).squeeze(2).permute(2, 0, 1)
        return F.log_softmax(self.head(self.recurrent(columns)[0]), 2)


class SubpixelUpscaler(nn.Module):
    """Super-resolution by PixelShuffle, with the picture enlarged beside it."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 5, 1, 2), nn.PReLU(16), nn.Conv2d(16, 27, 3, 1, 1), nn.PixelShuffle(3))

    def forward(self, x):
        return torch.clamp(self.body(x) + F.interpolate(x, scale_factor=3, mode="bicubic", align_corners=False), 0, 1)


class DeformableConvolution(nn.Module):
    """A modulated deformable convolution by gathers of four neighbours (CenterNet where there is no DeformConv)."""

    def __init__(self, inputs=4, outputs=6):
        super().__init__()
        self.offset, self.weight = nn.Conv2d(inputs, 27, 3, 1, 1), nn.Parameter(torch.randn(outputs, inputs * 9) / 6)

    def forward(self, x):
        n, c, h, w = x.shape
        dy, dx, mask = torch.chunk(self.offset(x), 3, 1)
        padded = F.pad(x, (1, 1, 1, 1)).flatten(2)
        step = torch.arange(-1, 2, dtype=x.dtype)
        ky, kx = (t.reshape(1, 9, 1, 1) for t in torch.meshgrid(step, step, indexing="ij"))
        y = (torch.arange(h, dtype=x.dtype).view(1, 1, h, 1) + ky + dy + 1).clamp(0, h + 1)
        x_at = (torch.arange(w, dtype=x.dtype).view(1, 1, 1, w) + kx + dx + 1).clamp(0, w + 1)
        result = 0
        for top in (0, 1):
            for left in (0, 1):
                py, px = (y.floor() + top).clamp(0, h + 1), (x_at.floor() + left).clamp(0, w + 1)
                share = (1 - (y - py).abs()).clamp(min=0) * (1 - (x_at - px).abs()).clamp(min=0)
                index = (py * (w + 2) + px).long().view(n, 1, -1).expand(-1, c, -1)
                result = result + torch.gather(padded, 2, index).view(n, c, 9, h, w) * share[:, None]
        columns = (result * torch.sigmoid(mask)[:, None]).view(n, c * 9, h * w)
        return torch.matmul(self.weight, columns).view(n, -1, h, w)


class MobileVitBlock(nn.Module):
    """Patches unfolded into sequences, a transformer layer, and folded again (MobileViT)."""

    def __init__(self, width=16):
        super().__init__()
        self.local, self.layer = conv(3, width), nn.TransformerEncoderLayer(width, 4, 32, batch_first=True, activation="gelu")
        self.fuse = conv(2 * width, width)

    def forward(self, x):
        x = self.local(x)
        n, c, h, w = x.shape
        patches = x.reshape(n * c * (h // 2), 2, w // 2, 2).transpose(1, 2).reshape(n, c, h * w // 4, 4)
        tokens = self.layer(patches.transpose(1, 3).reshape(n * 4, -1, c))
        back = tokens.reshape(n, 4, -1, c).transpose(1, 3).reshape(n * c * (h // 2), w // 2, 2, 2).transpose(1, 2)
        return self.fuse(torch.cat([x, back.reshape(n, c, h, w)], 1))


class DenseResidual(nn.Module):
    """Residual in residual dense blocks with scaled sums (ESRGAN)."""

    def __init__(self, width=8, growth=4):
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, 1, 1)
        self.layers = nn.ModuleList(nn.Conv2d(width + i * growth, growth if i < 4 else width, 3, 1, 1) for i in range(5))
        self.leave = nn.Conv2d(width, 3, 3, 1, 1)

    def forward(self, x):
        x = self.enter(x)
        seen = [x]
        for i, layer in enumerate(self.layers):
            y = layer(torch.cat(seen, 1))
            seen.append(F.leaky_relu(y, 0.2) if i < 4 else y)
        x = x + 0.2 * seen[-1]
        return self.leave(F.leaky_relu(F.interpolate(x, scale_factor=2, mode="nearest"), 0.2))


class RecurrentMatting(nn.Module):
    """A ConvGRU whose state is an input and an output, and a guided filter (Robust Video Matting)."""

    def __init__(self, width=8):
        super().__init__()
        self.enter = conv(3, width, stride=2, activation=nn.Hardswish)
        self.gates, self.candidate = nn.Conv2d(2 * width, 2 * width, 3, 1, 1), nn.Conv2d(2 * width, width, 3, 1, 1)
        self.head = nn.Conv2d(width, 4, 1)

    def forward(self, picture, state):
        x = self.enter(picture)
        r, z = torch.sigmoid(self.gates(torch.cat([x, state], 1))).chunk(2, 1)
        state = (1 - z) * state + z * torch.tanh(self.candidate(torch.cat([x, r * state], 1)))
        a, b = self.head(state).split([3, 1], 1)
        mean, variance = F.avg_pool2d(a, 3, 1, 1), F.avg_pool2d(a * a, 3, 1, 1, count_include_pad=False)
        a = F.interpolate(a / (variance - mean * mean + 1.0).abs().add(1e-2).sqrt(), size=picture.shape[2:], mode="bilinear", align_corners=False)
        b = F.interpolate(b, size=picture.shape[2:], mode="bilinear", align_corners=True)
        return (a * picture).mean(1, keepdim=True).clamp(0, 1) + b, state


class DepthTransformer(nn.Module):
    """Tokens with positions resized bicubically, LayerScale, and a head that puts tokens back into pictures (Depth Anything)."""

    def __init__(self, width=24, heads=3):
        super().__init__()
        self.patch, self.position = nn.Conv2d(3, width, 8, 8), nn.Parameter(torch.randn(1, 17, width))
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.norm, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.scale = nn.Parameter(torch.rand(width))
        self.mlp = nn.Sequential(nn.Linear(width, 48), nn.GELU(), nn.Linear(48, width))
        self.up, self.heads = nn.ConvTranspose2d(width, 8, 4, 4), heads

    def forward(self, x):
        h, w = x.shape[2] // 8, x.shape[3] // 8
        tokens = self.patch(x).flatten(2).transpose(1, 2)
        grid = self.position[:, 1:].reshape(1, 4, 4, -1).permute(0, 3, 1, 2)
        grid = F.interpolate(grid, size=(h, w), mode="bicubic", align_corners=False).permute(0, 2, 3, 1).reshape(1, h * w, -1)
        x = torch.cat([self.token.expand(len(x), -1, -1), tokens], 1) + torch.cat([self.position[:, :1], grid], 1)
        n, count, width = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, count, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q * (width // self.heads) ** -0.5 @ k.transpose(-2, -1)).softmax(-1)
        x = x + self.scale * self.out((scores @ v).transpose(1, 2).reshape(n, count, width))
        x = x + self.mlp(self.second(x))
        picture = x[:, 1:].permute(0, 2, 1).reshape(n, width, h, w)
        return F.relu(F.interpolate(self.up(picture), size=(8 * h, 8 * w), mode="bilinear", align_corners=True))


class NeighbourGraph(nn.Module):
    """Edges to the nearest points, by TopK and gathers (DGCNN)."""

    def __init__(self, neighbours=6):
        super().__init__()
        self.neighbours, self.edge = neighbours, nn.Sequential(nn.Conv2d(6, 16, 1, bias=False), nn.BatchNorm2d(16), nn.LeakyReLU(0.2))
        self.head = nn.Linear(32, 5)

    def forward(self, points):
        n, c, count = points.shape
        inner, square = -2 * points.transpose(2, 1) @ points, (points ** 2).sum(1, keepdim=True)
        nearest = (-square.transpose(2, 1) - inner - square).topk(self.neighbours, -1)[1]
        index = (nearest + torch.arange(n).view(-1, 1, 1) * count).view(-1)
        rows = points.transpose(2, 1).reshape(n * count, c)
        near = rows[index].view(n, count, self.neighbours, c)
        own = rows.view(n, count, 1, c).repeat(1, 1, self.neighbours, 1)
        x = self.edge(torch.cat([near - own, own], 3).permute(0, 3, 1, 2)).max(-1)[0]
        return self.head(torch.cat([x.max(-1)[0], x.mean(-1)], 1))
