"""More of small_networks.py."""
import torch
from torch import nn
from torch.nn import functional as F

import small_networks as first
from small_networks import conv


class RotaryAttention(nn.Module):
    """Rotary positions on halves of heads, RMS normalisation, grouped keys and values, a gated MLP."""

    def __init__(self, width=32, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q, self.k, self.v = nn.Linear(width, width, bias=False), nn.Linear(width, groups * self.size), nn.Linear(width, groups * self.size)
        self.out, self.gate, self.up, self.down = (nn.Linear(a, b) for a, b in ((width, width), (width, 64), (width, 64), (64, width)))
        self.scale = nn.Parameter(torch.rand(width))
        angles = torch.arange(12)[:, None] * 1e4 ** (-torch.arange(0, self.size, 2) / self.size)
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))

    def rotate(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cos + torch.cat([-b, a], -1) * self.sin

    def forward(self, x):
        n, count, width = x.shape
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale
        q = self.rotate(self.q(h).view(n, count, self.heads, -1).transpose(1, 2))
        k, v = (layer(h).view(n, count, self.groups, -1).transpose(1, 2) for layer in (self.k, self.v))
        k = self.rotate(k)
        k, v = (t[:, :, None].expand(-1, -1, self.heads // self.groups, -1, -1).reshape(n, self.heads, count, -1) for t in (k, v))
        mask = torch.full((count, count), float("-inf"), dtype=x.dtype).triu(1)
        scores = torch.softmax(q @ k.transpose(-2, -1) / self.size ** 0.5 + mask, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(n, count, width))
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class TalkingHeads(nn.Module):
    """Scores mixed over heads before and after the softmax."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.before, self.after = nn.Linear(heads, heads), nn.Linear(heads, heads)

    def forward(self, x):
        n, count, width = x.shape
        q, k, v = self.qkv(x).reshape(n, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q * (width // self.heads) ** -0.5) @ k.transpose(-2, -1)
        scores = self.before(scores.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).softmax(-1)
        scores = self.after(scores.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.out((scores @ v).transpose(1, 2).reshape(n, count, width))


class CostVolume(nn.Module):
    """Stereo: correlation over disparities, 3-D convolutions, soft argmin."""

    def __init__(self, disparities=6):
        super().__init__()
        self.features, self.disparities = conv(3, 8, stride=2), disparities
        self.volume = nn.Sequential(nn.Conv3d(16, 8, 3, 1, 1), nn.BatchNorm3d(8), nn.ReLU(), nn.Conv3d(8, 8, 3, 2, 1),
                                    nn.ReLU(), nn.ConvTranspose3d(8, 8, 4, 2, 1), nn.Conv3d(8, 1, 3, 1, 1))

    def forward(self, left, right):
        left, right = self.features(left), self.features(right)
        slices = []
        for d in range(self.disparities):
            shifted = F.pad(right, (d, 0, 0, 0))[..., :right.shape[-1]]
            slices.append(torch.cat([left, shifted], 1))
        cost = self.volume(torch.stack(slices, 2))[:, 0]
        levels = torch.arange(cost.shape[1], dtype=cost.dtype).view(1, -1, 1, 1)
        return (F.softmax(-cost, 1) * levels).sum(1)


class Unet3d(nn.Module):
    """Volumes with InstanceNorm and GroupNorm, a transposed convolution, and a skip (nnU-Net)."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv3d(1, 8, 3, 1, 1), nn.InstanceNorm3d(8, affine=True), nn.LeakyReLU(0.01))
        self.down = nn.Sequential(nn.Conv3d(8, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.LeakyReLU(0.01))
        self.deep = nn.Conv3d(16, 16, 3, padding=1, groups=16)
        self.up, self.leave = nn.ConvTranspose3d(16, 8, 2, 2), nn.Conv3d(16, 3, 1)

    def forward(self, x):
        top = self.enter(x)
        low = F.max_pool3d(self.down(top), (1, 2, 2)) + 0
        low = F.interpolate(self.deep(low), scale_factor=(1, 2, 2), mode="trilinear", align_corners=False)
        return F.softmax(self.leave(torch.cat([self.up(low), top], 1)), 1)


class VideoBlock(nn.Module):
    """Depthwise convolutions of volumes with squeeze and excitation (X3D)."""

    def __init__(self, width=8):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv3d(3, width, (1, 3, 3), (1, 2, 2), (0, 1, 1), bias=False),
                                   nn.Conv3d(width, width, (5, 1, 1), padding=(2, 0, 0), groups=width, bias=False), nn.BatchNorm3d(width), nn.ReLU())
        self.depthwise = nn.Sequential(nn.Conv3d(width, 2 * width, 1), nn.BatchNorm3d(2 * width), nn.ReLU(),
                                       nn.Conv3d(2 * width, 2 * width, 3, (1, 2, 2), 1, groups=2 * width), nn.BatchNorm3d(2 * width))
        self.squeeze, self.excite = nn.Conv3d(2 * width, 8, 1), nn.Conv3d(8, 2 * width, 1)
        self.leave, self.short, self.head = nn.Conv3d(2 * width, width, 1), nn.Conv3d(width, width, 1, (1, 2, 2)), nn.Linear(width, 4)

    def forward(self, x):
        x = self.enter(x)
        h = self.depthwise(x)
        h = F.silu(h * torch.sigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool3d(h, 1))))))
        return self.head(F.relu(self.leave(h) + self.short(x)).mean((2, 3, 4)))


class AdaptiveStyle(nn.Module):
    """Styles that modulate the weights of a convolution, noise, blur (StyleGAN2, batch of 1)."""

    def __init__(self, width=8, style=12):
        super().__init__()
        self.affine, self.weight = nn.Linear(style, width), nn.Parameter(torch.randn(width, width, 3, 3))
        blur = torch.tensor([1.0, 3.0, 3.0, 1.0])
        self.register_buffer("blur", (blur[:, None] * blur[None] / 16).expand(width, 1, 4, 4).clone())

    def forward(self, x, style):
        w = self.weight * (self.affine(style) + 1)[0][None, :, None, None]
        w = w * torch.rsqrt(w.pow(2).sum((1, 2, 3), keepdim=True) + 1e-8)
        x = F.conv_transpose2d(x, w.transpose(0, 1), stride=2)
        return F.leaky_relu(F.conv2d(F.pad(x, (1, 1, 1, 1)), self.blur, groups=len(w)), 0.2) * 2 ** 0.5


class WindowedAttention(nn.Module):
    """Windows that are shifted by roll, with a table of relative positions and cosine scores (Swin v2)."""

    def __init__(self, width=16, heads=2, window=4):
        super().__init__()
        self.heads, self.window, self.qkv, self.out = heads, window, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table, self.scale = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads)), nn.Parameter(torch.ones(heads, 1, 1))
        at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        relative = (at[:, :, None] - at[:, None]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", relative[..., 0] * (2 * window - 1) + relative[..., 1])

    def forward(self, x):
        n, h, w, c = x.shape
        s = self.window
        shifted = torch.roll(x, (-s // 2, -s // 2), (1, 2))
        windows = shifted.view(n, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        q, k, v = self.qkv(windows).reshape(-1, s * s, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        scores = scores * torch.clamp(self.scale, max=4.6).exp()
        scores = (scores + 16 * torch.sigmoid(self.table[self.index.view(-1)].view(s * s, s * s, -1).permute(2, 0, 1))[None]).softmax(-1)
        y = self.out((scores @ v).transpose(1, 2).reshape(-1, s * s, c))
        y = y.view(n, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + torch.roll(y, (s // 2, s // 2), (1, 2))


class StateSpace(nn.Module):
    """A selective scan, unrolled, after a causal depthwise convolution (Mamba)."""

    def __init__(self, width=8, state=4):
        super().__init__()
        self.conv, self.project = nn.Conv1d(width, width, 4, padding=3, groups=width), nn.Linear(width, width + 2 * state)
        self.log, self.skip = nn.Parameter(torch.randn(width, state)), nn.Parameter(torch.ones(width))
        self.state = state

    def forward(self, x):
        n, count, width = x.shape
        x = F.silu(self.conv(x.transpose(1, 2))[..., :count]).transpose(1, 2)
        step, b, c = self.project(x).split([width, self.state, self.state], -1)
        decay = torch.exp(F.softplus(step)[..., None] * -torch.exp(self.log))
        h, out = torch.zeros(n, width, self.state, dtype=x.dtype), []
        for t in range(count):
            h = decay[:, t] * h + (F.softplus(step[:, t]) * x[:, t])[..., None] * b[:, t, None]
            out.append((h * c[:, t, None]).sum(-1))
        return torch.stack(out, 1) + x * self.skip


class Fourier(nn.Module):
    """A depthwise filter of one size of kernels by large pools and unfolded patches, with local normalisation."""

    def __init__(self):
        super().__init__()
        self.mix, self.leave = nn.Conv2d(27, 9, 1), nn.Conv2d(3, 4, 1)

    def forward(self, x):
        n, c, h, w = x.shape
        patches = F.unfold(x, 3, padding=1).view(n, c, 9, h, w)
        kernel = torch.softmax(self.mix(patches.reshape(n, c * 9, h, w)), 1)
        filtered = (patches * kernel[:, None]).sum(2)
        return F.local_response_norm(self.leave(filtered), 3), F.adaptive_avg_pool2d(filtered, (3, 1))


class Bilateral(nn.Module):
    """A grid of affine colour transforms sliced by a guide: GridSample of volumes (HDRNet)."""

    def __init__(self):
        super().__init__()
        self.coefficients, self.guide = nn.Sequential(conv(3, 16, stride=4), nn.Conv2d(16, 12 * 4, 1)), nn.Conv2d(3, 1, 1)

    def forward(self, x):
        n, _, h, w = x.shape
        grid = self.coefficients(x)
        grid = grid.view(n, 12, 4, *grid.shape[2:])
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h, dtype=x.dtype), torch.linspace(-1, 1, w, dtype=x.dtype), indexing="ij")
        guide = torch.tanh(self.guide(x)).permute(0, 2, 3, 1)
        at = torch.cat([torch.stack([xs, ys], -1)[None].expand(n, -1, -1, -1), guide], -1)[:, None]
        # torch's exporters know GridSample of pictures alone: the two nearest levels are mixed by hand.
        level = (guide[..., 0] + 1) * 1.5
        result = 0
        for i in range(4):
            part = F.grid_sample(grid[:, :, i], at[:, 0, ..., :2], align_corners=True, padding_mode="border")
            result = result + part * (1 - (level - i).abs()).clamp(min=0)[:, None]
        matrix = result.view(n, 3, 4, h, w)
        return (matrix[:, :, :3] * x[:, None]).sum(2) + matrix[:, :, 3]


class MixtureOfExperts(nn.Module):
    """The two best of four experts for each token, by TopK, one-hot masks and sums over all experts."""

    def __init__(self, width=16, experts=4):
        super().__init__()
        self.router, self.experts = nn.Linear(width, experts), experts
        self.up, self.down = nn.Parameter(torch.randn(experts, width, 24) / 4), nn.Parameter(torch.randn(experts, 24, width) / 5)

    def forward(self, x):
        scores, chosen = torch.topk(self.router(x).softmax(-1), 2, -1)
        weights = (F.one_hot(chosen, self.experts).to(x.dtype) * (scores / scores.sum(-1, keepdim=True))[..., None]).sum(-2)
        y = torch.einsum("ntew,ewo->nteo", torch.einsum("ntc,ecw->ntew", x, self.up).relu(), self.down)
        return (y * weights[..., None]).sum(2)


class PointPillars(nn.Module):
    """Features of pillars scattered into a picture."""

    def __init__(self, size=8):
        super().__init__()
        self.size, self.features, self.head = size, nn.Sequential(nn.Linear(5, 8), nn.ReLU()), nn.Conv2d(8, 2, 3, 1, 1)

    def forward(self, pillars, places):
        x = self.features(pillars).max(1)[0]
        canvas = torch.zeros(8, self.size * self.size, dtype=x.dtype)
        index = (places[:, 0] * self.size + places[:, 1]).long()
        canvas = canvas.scatter(1, index[None].expand(8, -1), x.t())
        return self.head(canvas.view(1, 8, self.size, self.size))


class VectorQuantizer(nn.Module):
    """The nearest entries of a codebook (VQ-VAE)."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Conv2d(3, 4, 4, 4), nn.ConvTranspose2d(4, 3, 4, 4)
        self.codes = nn.Embedding(16, 4)

    def forward(self, x):
        z = self.encode(x).permute(0, 2, 3, 1)
        nearest = torch.cdist(z.reshape(1, -1, 4), self.codes.weight[None]).argmin(-1)
        return self.decode(self.codes(nearest).view(z.shape).permute(0, 3, 1, 2)), nearest


class GatedRecurrence(nn.Module):
    """A GRU over columns, its last state, attention over its outputs."""

    def __init__(self):
        super().__init__()
        self.recurrent, self.score, self.head = nn.GRU(6, 10, batch_first=True), nn.Linear(10, 1), nn.Linear(20, 3)

    def forward(self, x):
        outputs, last = self.recurrent(x)
        return self.head(torch.cat([(outputs * self.score(torch.tanh(outputs)).softmax(1)).sum(1), last[0]], -1))


class SpatialTransformer(nn.Module):
    """A picture that is resampled by an affine grid of its own."""

    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(conv(3, 4, stride=4), nn.Flatten(), nn.Linear(64, 6))

    def forward(self, x):
        theta = self.locate(x).view(-1, 2, 3) * 0.1 + torch.tensor([[1.0, 0, 0], [0, 1, 0]], dtype=x.dtype)
        n, _, h, w = x.shape
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h, dtype=x.dtype), torch.linspace(-1, 1, w, dtype=x.dtype), indexing="ij")
        grid = torch.stack([xs, ys, torch.ones_like(xs)], -1).view(1, -1, 3) @ theta.transpose(1, 2)
        return F.grid_sample(x, grid.view(n, h, w, 2), padding_mode="reflection", align_corners=False)


class Heatmaps(nn.Module):
    """Peaks of heatmaps: a max pool, TopK over all classes, gathers of sizes (CenterNet's decoder)."""

    def __init__(self, classes=3, most=5):
        super().__init__()
        self.body, self.classes, self.most = conv(3, 8, stride=4), classes, most
        self.heat, self.size = nn.Conv2d(8, classes, 1), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        x = self.body(x)
        heat = torch.sigmoid(self.heat(x))
        heat = heat * (F.max_pool2d(heat, 3, 1, 1) == heat).to(heat.dtype)
        n, c, h, w = heat.shape
        scores, index = torch.topk(heat.view(n, -1), self.most)
        label, place = torch.div(index, h * w, rounding_mode="floor"), index % (h * w)
        y, x_at = torch.div(place, w, rounding_mode="floor"), place % w
        size = self.size(x).view(n, 2, -1).gather(2, place[:, None].expand(-1, 2, -1))
        return torch.stack([x_at.to(x.dtype), y.to(x.dtype), size[:, 0], size[:, 1], scores, label.to(x.dtype)], -1)


NETWORKS = {
    "distribution_head": (first.DistributionHead, [(1, 3, 32, 48)]),
    "superpoint": (first.SuperPoint, [(1, 1, 48, 64)]),
    "linear_attention": (first.LinearAttention, [(2, 20, 32), (2, 14, 32)]),
    "radiance_field": (first.RadianceField, [(5, 12, 3)]),
    "diffusion_block": (first.DiffusionBlock, [(2, 3, 16, 16), (2,)]),
    "deformable_attention": (first.DeformableAttention, [(1, 10, 32), (1, 10, 4), (1, 32, 6, 8)]),
    "convolutional_lstm": (first.ConvolutionalLstm, [(1, 4, 3, 8, 10)]),
    "text_recognizer": (first.TextRecognizer, [(2, 1, 16, 40)]),
    "subpixel_upscaler": (first.SubpixelUpscaler, [(1, 3, 10, 14)]),
    "deformable_convolution": (first.DeformableConvolution, [(1, 4, 9, 7)]),
    "mobilevit_block": (first.MobileVitBlock, [(1, 3, 8, 12)]),
    "dense_residual": (first.DenseResidual, [(1, 3, 12, 10)]),
    "recurrent_matting": (first.RecurrentMatting, [(1, 3, 16, 20), (1, 8, 8, 10)]),
    "depth_transformer": (first.DepthTransformer, [(1, 3, 40, 56)]),
    "neighbour_graph": (first.NeighbourGraph, [(2, 3, 30)]),
    "rotary_attention": (RotaryAttention, [(2, 12, 32)]),
    "talking_heads": (TalkingHeads, [(2, 12, 32)]),
    "cost_volume": (CostVolume, [(1, 3, 16, 32), (1, 3, 16, 32)]),
    "unet_3d": (Unet3d, [(1, 1, 8, 16, 12)]),
    "video_block": (VideoBlock, [(2, 3, 6, 16, 16)]),
    "adaptive_style": (AdaptiveStyle, [(1, 8, 8, 8), (1, 12)]),
    "windowed_attention": (WindowedAttention, [(1, 8, 12, 16)]),
    "state_space": (StateSpace, [(2, 9, 8)]),
    "fourier": (Fourier, [(1, 3, 9, 11)]),
    "bilateral": (Bilateral, [(1, 3, 16, 24)]),
    "mixture_of_experts": (MixtureOfExperts, [(2, 7, 16)]),
    "point_pillars": (PointPillars, [(6, 4, 5), (6, 2)]),
    "vector_quantizer": (VectorQuantizer, [(1, 3, 16, 12)]),
    "gated_recurrence": (GatedRecurrence, [(2, 8, 6)]),
    "spatial_transformer": (SpatialTransformer, [(1, 3, 16, 16)]),
    "heatmaps": (Heatmaps, [(1, 3, 32, 32)]),
}
