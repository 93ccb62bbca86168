#include "graph/operators/elementwise/blocked_quantize.hpp"

#include "graph/composed.hpp"
#include "graph/onnx_types.hpp"

namespace vellum {
namespace {

// A scale or zero point in floats, in a shape that broadcasts to that of x.
ValueId spread(Body& body, ValueId parameter, const Shape& x, int64_t axis, int64_t block) {
  const ValueId floats = body.cast(parameter, DType::f32);
  const Shape shape = body.shape(parameter);
  if (element_count(shape) == 1) return body.reshape(floats, {});
  const size_t along = normalize_axis(axis, x.size());
  if (block == 0) {
    if (shape != Shape{x[along]}) refuse_model("a scale or zero point has shape " + to_string(shape));
    Shape column(x.size(), 1);
    column[along] = x[along];
    return body.reshape(floats, column);
  }
  Shape blocks = x;
  blocks[along] = (x[along] + block - 1) / block;
  if (shape != blocks)
    refuse_model("a scale or zero point has shape " + to_string(shape) + ", expected " + to_string(blocks));
  const auto after = static_cast<std::ptrdiff_t>(along) + 1;
  Shape apart = blocks, repeated = blocks, whole = blocks;
  apart.insert(apart.begin() + after, 1);
  repeated.insert(repeated.begin() + after, block);
  whole[along] = checked_multiply(blocks[along], block);
  const ValueId expanded = body.add("Expand", {body.reshape(floats, apart), body.ints(repeated)});
  return body.slice(body.reshape(expanded, whole), static_cast<int64_t>(along), 0, x[along]);
}

}  // namespace

std::shared_ptr<const Operator> make_blocked_quantize(const NodeSpec& spec, const QuantizeLinear& plain,
                                                      int64_t block, int64_t output, bool saturate) {
  if (block < 0) refuse_model("block_size is negative");
  return composed(spec, [=](Body& body) {
    const Shape shape = body.shape(body.input(0, "x"));
    const ValueId scale = spread(body, body.input(1, "y_scale"), shape, plain.axis, block);
    const ValueId real = body.add("Div", {body.cast(body.input(0, "x"), DType::f32), scale});
    const NarrowType* narrow = find_narrow_type(output);
    if (narrow && narrow->format) {
      body.output(body.add("Cast", {real}, {{"to", output}, {"saturate", int64_t{saturate}}}));
      return;
    }
    ValueId whole = body.add("Round", {real});
    DType dtype = plain.to.value_or(DType::u8);
    if (body.has_input(2)) {
      if (!plain.to) dtype = body.type(body.input(2, "y_zero_point")).dtype;
      whole = body.add("Add", {whole, spread(body, body.input(2, "y_zero_point"), shape, plain.axis, block)});
    }
    if (size_of(dtype) > 2) refuse_unsupported("quantisation to " + std::string(name(dtype)));
    const auto [low, high] = plain.range_of(dtype);
    const ValueId clipped = body.add("Clip", {whole, body.scalar(DType::f32, static_cast<double>(low)),
                                              body.scalar(DType::f32, static_cast<double>(high))});
    body.output(body.cast(clipped, dtype));
  });
}

std::shared_ptr<const Operator> make_blocked_dequantize(const NodeSpec& spec, int64_t axis, int64_t block,
                                                        int64_t output) {
  if (block < 0) refuse_model("block_size is negative");
  const std::optional<DType> to = output == 0 ? std::nullopt : std::optional(dtype_from_onnx(output));
  return composed(spec, [=](Body& body) {
    const Shape shape = body.shape(body.input(0, "x"));
    const ValueId scale = body.input(1, "x_scale");
    ValueId x = body.cast(body.input(0, "x"), DType::f32);
    if (body.has_input(2))
      x = body.add("Sub", {x, spread(body, body.input(2, "x_zero_point"), shape, axis, block)});
    const ValueId y = body.add("Mul", {x, spread(body, scale, shape, axis, block)});
    body.output(body.cast(y, to.value_or(body.type(scale).dtype)));
  });
}

}  // namespace vellum
