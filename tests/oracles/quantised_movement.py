"""Operators that move elements, and the resize that interpolates them, for quantised_operators.py."""
import numpy as np
from quantised_model import QuantisedModel


class Movement(QuantisedModel):
    def concatenation(self):
        shape, axis = self.image(), self.below(0, 4)
        parts = [[s if i != axis else self.below(1, 9) for i, s in enumerate(shape)] for _ in range(self.below(2, 5))]
        scale, zero = self.scale(), self.zero()
        same = self.dtype != np.uint8  # LiteRT requires it
        inputs = [self.input(part, scale, zero) if same or self.random.random() < 0.2 else self.input(part)
                  for part in parts]
        whole = [s if i != axis else sum(part[axis] for part in parts) for i, s in enumerate(shape)]
        self.op("CONCATENATION", inputs, [self.output(whole, scale, zero)], "ConcatenationOptions", axis=axis)

    def pad(self):
        shape = self.image()
        amounts = [[0, 0], [self.below(0, 3), self.below(0, 3)], [self.below(0, 3), self.below(0, 3)], [0, self.below(0, 3)]]
        x = self.input(shape)
        y = self.like(x, [s + a + b for s, (a, b) in zip(shape, amounts)])
        self.op("PAD", [x, self.model.constant(amounts, np.int32)], [y], "PadOptions")

    def resize_bilinear(self):
        n, h, w, c = self.image()
        size, form = [self.below(1, 20), self.below(1, 20)], self.below(0, 3)
        x = self.input([n, h, w, c])
        self.op("RESIZE_BILINEAR", [x, self.model.constant(size, np.int32)], [self.like(x, [n, *size, c])],
                "ResizeBilinearOptions", alignCorners=form == 1, halfPixelCenters=form == 2)

    def move(self):
        shape = self.image()
        x = self.input(shape)
        form = self.below(0, 7)
        if form == 0:
            order = [int(i) for i in self.random.permutation(4)]
            self.op("TRANSPOSE", [x, self.model.constant(order, np.int32)], [self.like(x, [shape[i] for i in order])],
                    "TransposeOptions")
        elif form == 1:
            amounts = [[0, 0]] + [[self.below(0, s), self.below(0, s)] for s in shape[1:3]] + [[0, 0]]
            self.op("MIRROR_PAD", [x, self.model.constant(amounts, np.int32)],
                    [self.like(x, [s + a + b for s, (a, b) in zip(shape, amounts)])], "MirrorPadOptions", mode=0)
        elif form == 2:
            size = [self.below(1, 20), self.below(1, 20)]
            self.op("RESIZE_NEAREST_NEIGHBOR", [x, self.model.constant(size, np.int32)],
                    [self.like(x, [shape[0], *size, shape[3]])], "ResizeNearestNeighborOptions",
                    alignCorners=False, halfPixelCenters=bool(self.below(0, 2)))
        elif form == 3:
            begin = [self.below(0, s) for s in shape]
            size = [self.below(1, s - b + 1) for s, b in zip(shape, begin)]
            self.op("SLICE", [x, self.model.constant(begin, np.int32), self.model.constant(size, np.int32)],
                    [self.like(x, size)], "SliceOptions")
        elif form == 4:
            times = [self.below(1, 3) for _ in shape]
            self.op("TILE", [x, self.model.constant(times, np.int32)],
                    [self.like(x, [s * t for s, t in zip(shape, times)])], "TileOptions")
        elif form == 5:
            axis = self.below(0, 4)
            chosen = self.random.integers(0, shape[axis], 5)
            self.op("GATHER", [x, self.model.constant(chosen, np.int32)],
                    [self.like(x, [5 if i == axis else s for i, s in enumerate(shape)])], "GatherOptions", axis=axis)
        else:
            other, count = self.input(shape, *self.quantisation(x)), self.below(0, 5)
            self.op("PACK", [x, other], [self.like(x, [*shape[:count], 2, *shape[count:]])], "PackOptions", axis=count,
                    valuesCount=2)
