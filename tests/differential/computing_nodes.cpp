// Nodes that compute or select elements.
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "differential/graph_maker.hpp"

namespace vellum::test {

void GraphMaker::unary() {
  static constexpr const char* smooth[] = {"Sigmoid",  "Tanh",     "HardSigmoid", "HardSwish", "Elu", "Selu",
                                           "Softplus", "Softsign", "Erf",         "Sin",       "Cos", "Atan"};
  static constexpr const char* exact[] = {"Relu", "Abs", "Neg", "Identity"};
  static constexpr const char* steps[] = {"Floor", "Ceil", "Round", "Sign"};
  const auto x = any();
  if (!x) return;
  switch (pick(4)) {
    case 0:
      node(exact[pick(std::size(exact))], {*x}, {}, Rounds::never);
      break;
    case 1:
      node(steps[pick(std::size(steps))], {*x}, {}, Rounds::discontinuous);
      break;
    default:
      node(smooth[pick(std::size(smooth))], {*x}, {}, Rounds::yes);
  }
}

void GraphMaker::clip() {
  if (const auto x = any()) node("Clip", {*x, floats({}, -1, 0), floats({}, 0, 1)}, {}, Rounds::never);
}

// With a value of the same shape, of another that broadcasts, or a constant.
void GraphMaker::binary() {
  static constexpr const char* types[] = {"Add", "Sub", "Mul", "Max", "Min", "Div"};
  const auto x = any();
  if (!x) return;
  const std::string type = types[pick(std::size(types))];
  const bool selects = type == "Max" || type == "Min";
  std::optional<size_t> other;
  if (type == "Div") {
    other = floats(broadcastable(shape(*x)), 0.5f, 2);
  } else if (chance(2)) {
    other = floats(broadcastable(shape(*x)));
  } else {
    other = any();
  }
  if (!other) return;
  std::vector<size_t> inputs{*x, *other};
  if (type != "Div" && chance(2)) std::swap(inputs[0], inputs[1]);
  node(type, inputs, {}, selects ? Rounds::never : Rounds::yes);
}

// Some dimensions are 1, some of the first are left out.
Shape GraphMaker::broadcastable(Shape shape) {
  for (int64_t& dim : shape)
    if (chance(3)) dim = 1;
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(pick(shape.size() + 1)));
  return shape;
}

void GraphMaker::compare_and_choose() {
  const auto x = any();
  if (!x) return;
  static constexpr const char* types[] = {"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"};
  if (!node(types[pick(std::size(types))], {*x, floats(broadcastable(shape(*x)))}, {}, Rounds::discontinuous))
    return;
  const size_t condition = values_.size() - 1;
  node("Where", {condition, *x, floats(broadcastable(shape(*x)))}, {}, Rounds::never);
}

void GraphMaker::convolution() {
  const auto x = any(4);
  if (!x) return;
  const int64_t channels = shape(*x)[1];
  int64_t group = 1;
  if (chance(3))
    group = channels;
  else if (channels % 2 == 0 && chance(3))
    group = 2;
  const int64_t outputs = group * between(1, group == channels ? 2 : 8), kernel = between(1, 4),
                kernel_w = chance(2) ? kernel : between(1, 4);
  const float scale = 1.5f / std::sqrt(static_cast<float>(channels / group * kernel * kernel_w));
  std::vector<size_t> inputs{*x, floats({outputs, channels / group, kernel, kernel_w}, -scale, scale)};
  if (chance(2)) inputs.push_back(floats({outputs}));
  const int64_t dilation = chance(4) ? 2 : 1;
  const Ints strides{between(1, 2), between(1, 2)}, dilations{dilation, dilation},
      pads{between(0, 2), between(0, 2), between(0, 2), between(0, 2)};
  node("Conv", inputs,
       attributes({{"pads", pads}, {"strides", strides}, {"dilations", dilations}, {"group", group}}),
       Rounds::yes);
}

void GraphMaker::transposed_convolution() {
  const auto x = any(4);
  if (!x) return;
  const int64_t channels = shape(*x)[1], kernel = between(1, 4), outputs = between(1, 6),
                stride = between(1, 3), pad = between(0, 1);
  const float scale = 1.5f / std::sqrt(static_cast<float>(channels * kernel));
  node("ConvTranspose", {*x, floats({channels, outputs, kernel, kernel}, -scale, scale)},
       attributes({{"strides", Ints{stride, stride}}, {"pads", Ints(4, pad)}}), Rounds::yes);
}

void GraphMaker::pool() {
  const auto x = any(4);
  if (!x) return;
  const int64_t kernel = between(1, 3);
  const Ints strides{between(1, 2), between(1, 2)};
  if (chance(4)) {
    node(chance(2) ? "GlobalAveragePool" : "GlobalMaxPool", {*x}, {}, Rounds::yes);
  } else if (chance(2)) {
    node("MaxPool", {*x},
         attributes({{"kernel_shape", Ints{kernel, kernel}},
                     {"strides", strides},
                     {"pads", Ints(4, kernel / 2)},
                     {"ceil_mode", between(0, 1)}}),
         Rounds::never);
  } else {
    node("AveragePool", {*x},
         attributes({{"kernel_shape", Ints{kernel, kernel}},
                     {"strides", strides},
                     {"pads", Ints(4, kernel / 2)},
                     {"count_include_pad", between(0, 1)}}),
         Rounds::yes);
  }
}

void GraphMaker::resize() {
  const auto x = any(4);
  if (!x) return;
  static constexpr const char* coordinates[] = {"half_pixel", "asymmetric", "align_corners",
                                                "pytorch_half_pixel"};
  const bool nearest = chance(2);
  Ints sizes = shape(*x);
  sizes[2] = between(1, 2 * sizes[2] + 1);
  sizes[3] = between(1, 2 * sizes[3] + 1);
  // Nearest elements are decided by coordinates, which engines round differently; twice the size is
  // certain.
  if (nearest) sizes[2] = 2 * shape(*x)[2], sizes[3] = 2 * shape(*x)[3];
  node("Resize",
       {*x, constant(HostTensor(DType::f32, {0})), constant(HostTensor(DType::f32, {0})), integers(sizes)},
       attributes(
           {{"mode", std::string(nearest ? "nearest" : "linear")},
            {"coordinate_transformation_mode", std::string(nearest ? "asymmetric" : coordinates[pick(4)])},
            {"nearest_mode", std::string("floor")}}),
       nearest ? Rounds::never : Rounds::yes);
}

void GraphMaker::reduce() {
  static constexpr const char* types[] = {"ReduceMean", "ReduceMax",       "ReduceMin",      "ReduceL1",
                                          "ReduceL2",   "ReduceSumSquare", "ReduceLogSumExp"};
  const auto x = any();
  if (!x) return;
  const std::string type = types[pick(std::size(types))];
  Ints axes;
  for (size_t axis = 0; axis < shape(*x).size(); ++axis)
    if (chance(2)) axes.push_back(static_cast<int64_t>(axis));
  if (axes.empty()) axes.push_back(-1);
  node(type, {*x}, attributes({{"axes", axes}, {"keepdims", between(0, 1)}}),
       type == "ReduceMax" || type == "ReduceMin" ? Rounds::never : Rounds::yes);
}

void GraphMaker::pick_largest() {
  const auto x = any();
  if (!x) return;
  const int64_t rank = static_cast<int64_t>(shape(*x).size()), axis = between(0, rank - 1);
  if (chance(2)) {
    node(chance(2) ? "ArgMax" : "ArgMin", {*x}, attributes({{"axis", axis}, {"keepdims", between(0, 1)}}),
         Rounds::discontinuous);
  } else {
    node("TopK", {*x, integers({between(1, shape(*x)[static_cast<size_t>(axis)])})},
         attributes({{"axis", axis}, {"largest", between(0, 1)}}), Rounds::discontinuous, 2);
  }
}

void GraphMaker::normalise() {
  const auto x = any();
  if (!x) return;
  const int64_t rank = static_cast<int64_t>(shape(*x).size());
  switch (pick(4)) {
    case 0:
      node(chance(3) ? "LogSoftmax" : "Softmax", {*x}, attributes({{"axis", between(-rank, rank - 1)}}),
           Rounds::yes);
      break;
    case 1:
      // A variance of few elements may be near 0, where its root amplifies every rounding.
      if (shape(*x).back() > 3)
        node("LayerNormalization", {*x, floats({shape(*x).back()}), floats({shape(*x).back()})},
             attributes({{"epsilon", 1e-2f}}), Rounds::yes);
      break;
    case 2:
      if (rank == 4 && shape(*x)[2] * shape(*x)[3] > 3)
        node("InstanceNormalization", {*x, floats({shape(*x)[1]}), floats({shape(*x)[1]})},
             attributes({{"epsilon", 1e-2f}}), Rounds::yes);
      break;
    default:
      if (rank == 4) {
        const Shape channels{shape(*x)[1]};
        node("BatchNormalization",
             {*x, floats(channels), floats(channels), floats(channels), floats(channels, 0.5f, 2)}, {},
             Rounds::yes);
      }
  }
}

void GraphMaker::product() {
  const auto x = any();
  if (!x || shape(*x).size() < 2) return;
  const int64_t inner = shape(*x).back(), columns = between(1, 12);
  const float scale = 1.5f / std::sqrt(static_cast<float>(inner));
  const auto other = chance(3) ? any(shape(*x).size()) : std::nullopt;
  if (other && node("MatMul", {*x, *other}, {}, Rounds::yes)) return;
  if (shape(*x).size() == 2 && chance(2)) {
    const bool transposed = chance(2);
    node("Gemm",
         {*x, floats(transposed ? Shape{columns, inner} : Shape{inner, columns}, -scale, scale),
          floats({columns})},
         attributes({{"transB", int64_t{transposed}}}), Rounds::yes);
  } else {
    node("MatMul", {*x, floats({inner, columns}, -scale, scale)}, {}, Rounds::yes);
  }
}

void GraphMaker::accumulate() {
  if (const auto x = any())
    node("CumSum", {*x, integers({between(0, static_cast<int64_t>(shape(*x).size()) - 1)})},
         attributes({{"exclusive", between(0, 1)}, {"reverse", between(0, 1)}}), Rounds::yes);
}

}  // namespace vellum::test
