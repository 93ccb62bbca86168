// RotaryEmbedding: rotates pairs of channels by angles that depend on the token's position.
// https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html
#include "graph/composed.hpp"

namespace vellum {
namespace {

struct Rotation {
  bool interleaved =
      false;  // a pair is two adjacent channels; else a channel of the first and of the second half
  int64_t channels = 0;  // channels of each head that are rotated; 0: all
  int64_t heads = 0;     // of an input of three dimensions
};

// The cosines or sines of each token, (batch, token, channel / 2), in a shape that broadcasts to the heads.
ValueId angles(Body& body, size_t input, std::string_view what, const Shape& tokens, bool heads_first) {
  ValueId table = body.input(input, what);
  if (body.has_input(3)) table = body.add("Gather", {table, body.input(3, "position_ids")});
  const Shape shape = body.shape(table);
  if (shape.size() != 3 || shape[0] != tokens[0] || shape[1] != tokens[1] || shape[2] != tokens[2])
    refuse_model("input '" + std::string(what) + "' gives " + to_string(shape) + ", expected " +
                 to_string(tokens));
  return body.reshape(
      table, heads_first ? Shape{shape[0], 1, shape[1], shape[2]} : Shape{shape[0], shape[1], 1, shape[2]});
}

void rotate(Body& body, const Rotation& rotation) {
  ValueId x = body.input(0, "X");
  const Shape shape = body.shape(x);
  const bool heads_first = shape.size() == 4;
  if (shape.size() == 3) {
    if (rotation.heads <= 0 || shape[2] % rotation.heads != 0)
      refuse_model("X of shape " + to_string(shape) + " has no " + std::to_string(rotation.heads) + " heads");
    x = body.reshape(x, {shape[0], shape[1], rotation.heads, shape[2] / rotation.heads});
  } else if (!heads_first) {
    refuse_model("X has neither three nor four dimensions");
  }
  const Shape split = body.shape(x);
  const int64_t width = split[3], turned = rotation.channels > 0 ? rotation.channels : width;
  if (turned > width || turned % 2 != 0)
    refuse_model(std::to_string(turned) + " of " + std::to_string(width) + " channels cannot be turned");
  const Shape tokens{split[0], heads_first ? split[2] : split[1], turned / 2};
  const ValueId cosine = angles(body, 1, "cos_cache", tokens, heads_first);
  const ValueId sine = angles(body, 2, "sin_cache", tokens, heads_first);
  const int64_t step = rotation.interleaved ? 2 : 1, second = rotation.interleaved ? 1 : turned / 2;
  const ValueId a = body.slice(x, 3, 0, rotation.interleaved ? turned : turned / 2, step);
  const ValueId b = body.slice(x, 3, second, turned, step);
  const ValueId real = body.add("Sub", {body.add("Mul", {cosine, a}), body.add("Mul", {sine, b})});
  const ValueId imaginary = body.add("Add", {body.add("Mul", {sine, a}), body.add("Mul", {cosine, b})});
  Shape pairs = split;
  pairs[3] = turned / 2;
  pairs.push_back(1);
  std::vector<ValueId> parts{real, imaginary};
  if (rotation.interleaved) {
    for (ValueId& part : parts) part = body.reshape(part, pairs);
    const ValueId joined = body.add("Concat", parts, {{"axis", int64_t{4}}});
    parts = {body.reshape(joined, {split[0], split[1], split[2], turned})};
  }
  if (turned < width) parts.push_back(body.slice(x, 3, turned, width));
  const ValueId y = parts.size() == 1 ? parts[0] : body.add("Concat", parts, {{"axis", int64_t{3}}});
  body.output(body.reshape(y, shape));
}

}  // namespace

std::shared_ptr<const Operator> make_rotary_embedding(const NodeSpec& spec) {
  Rotation rotation;
  rotation.interleaved = get_flag(*spec.attributes, "interleaved", false);
  rotation.channels = spec.attributes->get_int("rotary_embedding_dim", 0);
  rotation.heads = spec.attributes->get_int("num_heads", 0);
  return composed(spec, [rotation](Body& body) { rotate(body, rotation); });
}

}  // namespace vellum
