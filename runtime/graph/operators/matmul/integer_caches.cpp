#include "graph/operators/matmul/integer_caches.hpp"

#include <string>

namespace vellum {
namespace {

constexpr double kNibbleZero = 8.0;  // the integer 0 in 4 bits

// Returns the scale in a shape that broadcasts to a cache of `heads` heads.
ValueId broadcast_scale(Body& body, const IntegerCache& cache, ValueId scale, int64_t heads,
                        int64_t channels) {
  const Shape shape = body.shape(scale);
  if (!cache.per_channel) {
    if (element_count(shape) != 1)
      refuse_model("the scale of a cache has the shape " + to_string(shape) + " in place of one element");
    return body.reshape(scale, {1, 1, 1, 1});
  }
  if (element_count(shape) != heads * channels)
    refuse_model("the scale of a cache has the shape " + to_string(shape) + " in place of " +
                 std::to_string(channels) + " channels of " + std::to_string(heads) + " heads");
  return body.reshape(scale, {1, heads, 1, channels});
}

// Packs pairs of numbers from -8 to 7 into bytes.
ValueId pack_nibbles(Body& body, ValueId numbers) {
  const Shape shape = body.shape(numbers);
  if (shape[3] % 2 != 0) refuse_model("a cache in 4 bits with an odd number of channels");
  const ValueId codes = body.add("Add", {numbers, body.scalar(DType::f32, kNibbleZero)});
  const ValueId low = body.slice(codes, 3, 0, shape[3], 2), high = body.slice(codes, 3, 1, shape[3], 2);
  const ValueId byte = body.add("Add", {low, body.add("Mul", {high, body.scalar(DType::f32, 16.0)})});
  return body.cast(byte, DType::u8);
}

// Returns the numbers from -8 to 7 of bytes.
ValueId unpack_nibbles(Body& body, ValueId bytes) {
  Shape shape = body.shape(bytes), pair = shape;
  pair.push_back(1);
  const ValueId whole = body.cast(bytes, DType::f32);
  const ValueId high = body.add("Floor", {body.add("Mul", {whole, body.scalar(DType::f32, 1.0 / 16.0)})});
  const ValueId low = body.add("Sub", {whole, body.add("Mul", {high, body.scalar(DType::f32, 16.0)})});
  const ValueId both =
      body.add("Concat", {body.reshape(low, pair), body.reshape(high, pair)}, {{"axis", int64_t{-1}}});
  shape.back() *= 2;
  return body.add("Sub", {body.reshape(both, shape), body.scalar(DType::f32, kNibbleZero)});
}

}  // namespace

IntegerCache integer_cache(const Attributes& attributes, const char* quant_type) {
  const std::string type = attributes.get_string(quant_type, "NONE");
  if (type == "NONE") return {};
  if (type != "PER_TENSOR" && type != "PER_CHANNEL") refuse_model(std::string(quant_type) + " is " + type);
  const int64_t bits = attributes.get_int("kv_cache_bit_width", 8);
  if (bits != 8 && bits != 4) refuse_model("kv_cache_bit_width is " + std::to_string(bits));
  return {bits, type == "PER_CHANNEL"};
}

ValueId to_cache_integers(Body& body, const IntegerCache& cache, ValueId floats, ValueId scale) {
  const Shape shape = body.shape(floats);
  const ValueId quotient = body.add(
      "Div", {body.cast(floats, DType::f32), broadcast_scale(body, cache, scale, shape[1], shape[3])});
  const double most = cache.bits == 8 ? 127.0 : 7.0;
  const ValueId whole = body.add("Clip", {body.add("Round", {quotient}), body.scalar(DType::f32, -most - 1.0),
                                          body.scalar(DType::f32, most)});
  return cache.bits == 8 ? body.cast(whole, DType::i8) : pack_nibbles(body, whole);
}

ValueId from_cache_integers(Body& body, const IntegerCache& cache, ValueId integers, ValueId scale,
                            DType dtype) {
  const TensorType type = body.type(integers);
  if (type.dtype != (cache.bits == 8 ? DType::i8 : DType::u8))
    refuse_unsupported("a cache of " + std::to_string(cache.bits) + " bits of type " + to_string(type));
  const ValueId numbers = cache.bits == 8 ? body.cast(integers, DType::f32) : unpack_nibbles(body, integers);
  const Shape shape = body.shape(numbers);
  return body.cast(body.add("Mul", {numbers, broadcast_scale(body, cache, scale, shape[1], shape[3])}),
                   dtype);
}

}  // namespace vellum
