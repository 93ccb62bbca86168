"""Networks that torchvision lacks and Vulkan engines are often compared on, after their papers. torch, seeded weights."""
import torch
from torch import nn


def convolution(inputs, outputs, kernel, activation, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        activation,
    )


class MobileNetV1(nn.Module):
    """Howard et al. 2017, "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications", table 1."""

    # Channels and stride of each depthwise separable convolution.
    BLOCKS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]

    def __init__(self):
        super().__init__()
        layers = [convolution(3, 32, 3, nn.ReLU(), stride=2)]
        channels = 32
        for outputs, stride in self.BLOCKS:
            layers.append(convolution(channels, channels, 3, nn.ReLU(), stride, groups=channels))
            layers.append(convolution(channels, outputs, 1, nn.ReLU()))
            channels = outputs
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 1000)

    def forward(self, images):
        return self.classifier(self.features(images).mean((2, 3)))


def leaky(inputs, outputs, kernel, stride=1):
    return convolution(inputs, outputs, kernel, nn.LeakyReLU(0.1), stride)


class CrossStageBlock(nn.Module):
    """Half of the channels pass two more convolutions (Wang et al. 2020, "Scaled-YOLOv4", section 4.2: CSPOSANet)."""

    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.first, self.second, self.third = leaky(channels, channels, 3), leaky(half, half, 3), leaky(half, half, 3)
        self.last = leaky(channels, channels, 1)

    def forward(self, x):
        """What goes on, and what the head for small objects takes."""
        x = self.first(x)
        second = self.second(x.chunk(2, 1)[1])
        branch = self.last(torch.cat([self.third(second), second], 1))
        return torch.cat([x, branch], 1), branch


class YoloV4Tiny(nn.Module):
    """The tiny model of Scaled-YOLOv4 (Wang et al. 2020) for the 80 classes of COCO: what its two heads compute, for three
    boxes per place and before boxes are made of it, with the places of both behind one another."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(leaky(3, 32, 3, 2), leaky(32, 64, 3, 2))
        self.blocks = nn.ModuleList(CrossStageBlock(channels) for channels in (64, 128, 256))
        self.pool = nn.MaxPool2d(2)
        self.neck = nn.Sequential(leaky(512, 512, 3), leaky(512, 256, 1))
        outputs = 3 * (4 + 1 + 80)
        self.large = nn.Sequential(leaky(256, 512, 3), nn.Conv2d(512, outputs, 1))
        self.up = nn.Sequential(leaky(256, 128, 1), nn.Upsample(scale_factor=2))
        self.small = nn.Sequential(leaky(384, 256, 3), nn.Conv2d(256, outputs, 1))

    def forward(self, images):
        x, branch = self.stem(images), None
        for block in self.blocks:
            x, branch = block(x)
            x = self.pool(x)
        x = self.neck(x)
        heads = [self.large(x), self.small(torch.cat([self.up(x), branch], 1))]
        return torch.cat([head.flatten(2) for head in heads], 2)


NETWORKS = {"mobilenet_v1": MobileNetV1, "yolov4_tiny": YoloV4Tiny}
