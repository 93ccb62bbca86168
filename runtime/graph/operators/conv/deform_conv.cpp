// DeformConv: a convolution whose taps are read at computed offsets, interpolated between elements.
// https://onnx.ai/onnx/operators/onnx__DeformConv.html
#include "graph/composed.hpp"

namespace vellum {
namespace {

struct DeformableWindow {
  Ints dilations, kernel, pads, strides;
  int64_t group = 1, offset_group = 1;
};

struct DeformableShape {
  int64_t images, channels, height, width;  // of X
  int64_t kernel_height, kernel_width;
  int64_t rows, columns;  // of the output
  int64_t taps() const { return kernel_height * kernel_width; }
};

DeformableShape check_shapes(Body& body, DeformableWindow& window) {
  const Shape x = body.shape(body.input(0, "X")), w = body.shape(body.input(1, "W")),
              offset = body.shape(body.input(2, "offset"));
  if (x.size() != 4 || w.size() != 4 || offset.size() != 4)
    refuse_unsupported("DeformConv of other than images (N x C x H x W)");
  if (window.dilations.empty()) window.dilations = {1, 1};
  if (window.strides.empty()) window.strides = {1, 1};
  if (window.pads.empty()) window.pads = {0, 0, 0, 0};
  if (window.dilations.size() != 2 || window.strides.size() != 2 || window.pads.size() != 4 ||
      (!window.kernel.empty() && window.kernel != Ints{w[2], w[3]}))
    refuse_model("an attribute does not have two dimensions, or contradicts W");
  for (size_t i = 0; i < 2; ++i)
    if (window.dilations[i] <= 0 || window.strides[i] <= 0)
      refuse_model("a stride or dilation is not positive");
  for (const int64_t pad : window.pads)
    if (pad < 0) refuse_model("a pad is negative");
  const DeformableShape s{x[0], x[1], x[2], x[3], w[2], w[3], offset[2], offset[3]};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t room = checked_add(checked_add(x[2 + i], window.pads[i]), window.pads[2 + i]);
    const int64_t rest = room - checked_add(checked_multiply(window.dilations[i], w[2 + i] - 1), 1);
    if (rest < 0 || offset[2 + i] != rest / window.strides[i] + 1)
      refuse_model("offset of shape " + to_string(offset) + " does not fit X and the window");
  }
  const int64_t g = window.offset_group;
  if (g <= 0 || s.channels % g != 0 || offset[0] != x[0] || w[2] <= 0 || w[3] <= 0 ||
      offset[1] != checked_multiply(2 * g, checked_multiply(w[2], w[3])))
    refuse_model("offset of shape " + to_string(offset) + " does not fit " + std::to_string(g) +
                 " groups of offsets");
  return s;
}

// Returns the positions of the taps without offsets along axis 0 (y) or 1 (x), in GridSample's coordinates:
// (1, tap, 1, row, column).
HostTensor undeformed_positions(const DeformableShape& s, const DeformableWindow& window, size_t axis,
                                DType dtype) {
  const auto size = static_cast<double>(axis == 0 ? s.height : s.width);
  const Shape shape{1, s.taps(), 1, s.rows, s.columns};
  std::vector<float> values(Body::table_size(shape));
  size_t i = 0;
  for (int64_t tap = 0; tap < s.taps(); ++tap)
    for (int64_t row = 0; row < s.rows; ++row)
      for (int64_t column = 0; column < s.columns; ++column) {
        const int64_t at = axis == 0 ? row : column;
        const int64_t k = axis == 0 ? tap / s.kernel_width : tap % s.kernel_width;
        const auto position =
            static_cast<double>(at * window.strides[axis] - window.pads[axis] + k * window.dilations[axis]);
        values[i++] = static_cast<float>((2.0 * position + 1.0) / size - 1.0);
      }
  return HostTensor::from<float>(dtype, shape, values);
}

// The grid that GridSample reads X at: (image * group, tap * row, column, 2).
ValueId deformed_grid(Body& body, const DeformableShape& s, const DeformableWindow& window) {
  const DType dtype = body.type(body.input(2, "offset")).dtype;
  const int64_t batch = s.images * window.offset_group;
  const ValueId offsets = body.reshape(body.input(2, "offset"), {batch, s.taps(), 2, s.rows, s.columns});
  std::vector<ValueId> xy;
  for (const size_t axis : {size_t{1}, size_t{0}}) {
    const auto first = static_cast<int64_t>(axis);
    const ValueId offset = body.slice(offsets, 2, first, first + 1);
    const ValueId scale = body.scalar(dtype, 2.0 / static_cast<double>(axis == 0 ? s.height : s.width));
    xy.push_back(body.add("Add", {body.add("Mul", {offset, scale}),
                                  body.constant(undeformed_positions(s, window, axis, dtype))}));
  }
  const ValueId grid = body.transpose(body.add("Concat", xy, {{"axis", int64_t{2}}}), {0, 1, 3, 4, 2});
  return body.reshape(grid, {batch, s.taps() * s.rows, s.columns, 2});
}

// The taps of all windows are sampled, then a 1x1 convolution adds them up.
void deform_conv(Body& body, DeformableWindow window) {
  const DeformableShape s = check_shapes(body, window);
  const int64_t g = window.offset_group, per_group = s.channels / g;
  const ValueId x = body.reshape(body.input(0, "X"), {s.images * g, per_group, s.height, s.width});
  ValueId taps = body.add("GridSample", {x, deformed_grid(body, s, window)});
  if (body.has_input(4)) {
    const ValueId mask = body.reshape(body.input(4, "mask"), {s.images * g, 1, s.taps(), s.rows, s.columns});
    taps =
        body.add("Mul", {body.reshape(taps, {s.images * g, per_group, s.taps(), s.rows, s.columns}), mask});
  }
  taps = body.reshape(taps, {s.images, s.channels * s.taps(), s.rows, s.columns});
  const Shape w = body.shape(body.input(1, "W"));
  std::vector<ValueId> inputs{taps, body.reshape(body.input(1, "W"), {w[0], w[1] * s.taps(), 1, 1})};
  if (body.has_input(3)) inputs.push_back(body.input(3, "B"));
  body.output(body.add("Conv", inputs, {{"group", window.group}}));
}

}  // namespace

std::shared_ptr<const Operator> make_deform_conv(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const DeformableWindow window{a.get_ints("dilations"), a.get_ints("kernel_shape"),
                                a.get_ints("pads"),      a.get_ints("strides"),
                                a.get_int("group", 1),   a.get_int("offset_group", 1)};
  return composed(spec, [window](Body& body) { deform_conv(body, window); });
}

}  // namespace vellum
