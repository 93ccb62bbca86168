// Winograd convolution F(SIDE x SIDE, 3x3), with SIDE 2 or 4: Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks (arXiv 1509.09308), section 4. A tile of SPAN x SPAN input pixels gives SIDE x SIDE output pixels. The
// transformed tile has SPAN x SPAN elements; at each element, channels are multiplied and summed independently.
//
// Tiles of 4 are interpolated at 0, +-2/3, +-3/2 and infinity, which has smaller errors than the usual 0, +-1, +-2
// (Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution for DNNs, on the choice of points).
// kernels/conv/winograd.cpp transforms the weights.

const int SPAN = SIDE + 2;
const int ELEMENTS = SPAN * SPAN;

#if SIDE == 2

// B^T d for one line.
void transform_input(vec4 d[SPAN], out vec4 line[SPAN]) {
  line[0] = d[0] - d[2];
  line[1] = d[1] + d[2];
  line[2] = d[2] - d[1];
  line[3] = d[1] - d[3];
}

// A^T m for one line.
void transform_output(vec4 m[SPAN], out vec4 line[SIDE]) {
  line[0] = m[0] + m[1] + m[2];
  line[1] = m[1] - m[2] - m[3];
}

#else

const float A = 2.0 / 3.0, B = 1.5;  // the points; their product is 1
const float A2 = A * A, B2 = B * B;

void transform_input(vec4 d[SPAN], out vec4 line[SPAN]) {
  vec4 even_a = d[4] - B2 * d[2], odd_a = A * (d[3] - B2 * d[1]);
  vec4 even_b = d[4] - A2 * d[2], odd_b = B * (d[3] - A2 * d[1]);
  line[0] = d[0] - (A2 + B2) * d[2] + d[4];
  line[1] = even_a + odd_a;
  line[2] = even_a - odd_a;
  line[3] = even_b + odd_b;
  line[4] = even_b - odd_b;
  line[5] = d[1] - (A2 + B2) * d[3] + d[5];
}

void transform_output(vec4 m[SPAN], out vec4 line[SIDE]) {
  vec4 sum_a = m[1] + m[2], difference_a = m[1] - m[2], sum_b = m[3] + m[4], difference_b = m[3] - m[4];
  line[0] = m[0] + sum_a + sum_b;
  line[1] = A * difference_a + B * difference_b;
  line[2] = A2 * sum_a + B2 * sum_b;
  line[3] = A * A2 * difference_a + B * B2 * difference_b + m[5];
}

#endif

// The slice and the tile that an invocation transforms. Tiles are counted along rows, then down, then over the images of a
// batch.
struct TilePosition {
  int tile, slice, n;
  ivec2 pixel;  // first output pixel of the tile
};
TilePosition locate_tile(int index, int count, ivec2 tiles) {
  ivec2 by_tile = divide(index, count);
  ivec2 by_column = divide(by_tile.y, tiles.x);
  ivec2 by_row = divide(by_column.x, tiles.y);
  return TilePosition(by_tile.y, by_tile.x, by_row.x, SIDE * ivec2(by_column.y, by_row.y));
}
