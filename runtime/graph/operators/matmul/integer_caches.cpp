#include "graph/operators/matmul/integer_caches.hpp"

#include <string>
#include <vector>

namespace vellum {
namespace {

constexpr float kNibbleZero = 8.0f;  // the integer 0 in 4 bits

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

HostTensor nibble_table(DType dtype) {
  std::vector<float> numbers;
  for (int byte = 0; byte < 256; ++byte)
    for (const int code : {byte % 16, byte / 16}) numbers.push_back(static_cast<float>(code) - kNibbleZero);
  return HostTensor::from<float>(dtype, {256, 2}, numbers);
}

ValueId cache_numbers(Body& body, const IntegerCache& cache, ValueId integers, DType dtype) {
  const TensorType type = body.type(integers);
  if (type.dtype != (cache.bits == 8 ? DType::i8 : DType::u8))
    refuse_unsupported("a cache of " + std::to_string(cache.bits) + " bits of type " + to_string(type));
  if (cache.bits == 8) return body.cast(integers, dtype);
  const ValueId pairs =
      body.add("Gather", {body.constant(nibble_table(dtype)), body.cast(integers, DType::i32)},
               {{"axis", int64_t{0}}});
  Shape shape = type.shape;
  shape.back() *= 2;
  return body.reshape(pairs, shape);
}

ValueId times_cache_scale(Body& body, const IntegerCache& cache, ValueId x, ValueId scale,
                          const CacheHeads& heads, const Shape& by_channel) {
  ValueId factors = broadcast_scale(body, cache, scale, heads.keys, heads.channels);
  if (!cache.per_channel) {
    factors = body.reshape(factors, {1});
  } else if (heads.queries == heads.keys) {
    factors = body.reshape(factors, by_channel);
  } else {
    const ValueId one_of_each = body.reshape(factors, {heads.keys, 1, heads.channels});
    const Ints all{heads.keys, heads.queries / heads.keys, heads.channels};
    factors = body.reshape(body.add("Expand", {one_of_each, body.ints(all)}), by_channel);
  }
  const DType dtype = body.type(x).dtype;
  return body.cast(body.add("Mul", {body.cast(x, DType::f32), factors}), dtype);
}

}  // namespace vellum
