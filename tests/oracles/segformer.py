"""SegFormer-B0 (Xie et al. 2021, "SegFormer: Simple and Efficient Design for Semantic Segmentation with Transformers"). torch."""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Keys and values of a picture that is reduced by a strided convolution (section 3.1)."""

    def __init__(self, width, heads, reduction):
        super().__init__()
        self.heads, self.reduction = heads, reduction
        self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        if reduction > 1:
            self.reduce, self.norm = nn.Conv2d(width, width, reduction, reduction), nn.LayerNorm(width)

    def forward(self, x, height, width):
        n, tokens, channels = x.shape
        size = channels // self.heads
        q = self.q(x).reshape(n, tokens, self.heads, size).permute(0, 2, 1, 3)
        if self.reduction > 1:
            x = self.reduce(x.permute(0, 2, 1).reshape(n, channels, height, width))
            x = self.norm(x.reshape(n, channels, -1).permute(0, 2, 1))
        k, v = self.kv(x).reshape(n, -1, 2, self.heads, size).permute(2, 0, 3, 1, 4).unbind(0)
        scores = ((q @ k.transpose(-2, -1)) * size ** -0.5).softmax(-1)
        return self.out((scores @ v).transpose(1, 2).reshape(n, tokens, channels))


class Block(nn.Module):
    def __init__(self, width, heads, reduction):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, reduction)
        self.enter, self.leave = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.depthwise = nn.Conv2d(4 * width, 4 * width, 3, 1, 1, groups=4 * width)

    def forward(self, x, height, width):
        x = x + self.attention(self.first(x), height, width)
        hidden = self.enter(self.second(x))
        n, tokens, channels = hidden.shape
        picture = self.depthwise(hidden.transpose(1, 2).reshape(n, channels, height, width))
        return x + self.leave(F.gelu(picture.flatten(2).transpose(1, 2)))


class Stage(nn.Module):
    def __init__(self, inputs, width, kernel, stride, heads, reduction, depth=2):
        super().__init__()
        self.embed, self.before, self.after = nn.Conv2d(inputs, width, kernel, stride, kernel // 2), nn.LayerNorm(width), nn.LayerNorm(width)
        self.blocks = nn.ModuleList(Block(width, heads, reduction) for _ in range(depth))

    def forward(self, x):
        x = self.embed(x)
        n, channels, height, width = x.shape
        x = self.before(x.flatten(2).transpose(1, 2))
        for block in self.blocks:
            x = block(x, height, width)
        return self.after(x).reshape(n, height, width, channels).permute(0, 3, 1, 2).contiguous()


class Segformer(nn.Module):
    def __init__(self, classes=150, decoder=256):
        super().__init__()
        widths = (32, 64, 160, 256)
        shapes = zip((3, *widths), widths, (7, 3, 3, 3), (4, 2, 2, 2), (1, 2, 5, 8), (8, 4, 2, 1))
        self.stages = nn.ModuleList(Stage(*shape) for shape in shapes)
        self.linears = nn.ModuleList(nn.Linear(width, decoder) for width in widths)
        self.fuse = nn.Sequential(nn.Conv2d(4 * decoder, decoder, 1, bias=False), nn.BatchNorm2d(decoder), nn.ReLU())
        self.head = nn.Conv2d(decoder, classes, 1)

    def forward(self, images):
        x, levels = images, []
        for stage, linear in zip(self.stages, self.linears):
            x = stage(x)
            level = linear(x.flatten(2).transpose(1, 2)).permute(0, 2, 1).reshape(len(x), -1, *x.shape[2:])
            levels.append(level if not levels else F.interpolate(level, size=levels[0].shape[2:], mode="bilinear", align_corners=False))
        return self.head(self.fuse(torch.cat(levels[::-1], 1)))
