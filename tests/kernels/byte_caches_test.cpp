// Caches in words: tokens that are written into them, and attention that reads them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cost/device_traits.hpp"
#include "graph/byte_rows.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace byte_caches_test {

// Multiples of 1/16 with a magnitude of 127/16 in each row, so that no byte is rounded the other way.
HostTensor exact_rows(Shape shape, int64_t channels, uint32_t seed) {
  HostTensor rows = random_tensor(std::move(shape), seed, -126.0f, 126.0f);
  size_t i = 0;
  for (float& value : rows.mutable_as<float>()) {
    const auto row = static_cast<int64_t>(i++) / channels;
    value = static_cast<int64_t>(i) % channels == row % channels ? 127.0f : std::nearbyint(value);
    value /= 16.0f;
  }
  return rows;
}

OperatorCase update(const Shape& cache, const Shape& tokens, int64_t axis, int64_t channels,
                    const std::vector<int64_t>& first) {
  auto op = std::make_shared<CacheUpdate>();
  op->axis = axis;
  op->channels = channels;
  op->cache_type = {DType::f32, cache};
  OperatorCase test{.type = "CacheUpdate",
                    .inputs = {to_byte_rows(random_tensor(cache, 1), channels),
                               exact_rows(tokens, channels, 2), HostTensor::i64({std::ssize(first)}, first)}};
  test.op = op;
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  return test;
}

HostTensor any_bytes(const Shape& shape, DType dtype, uint32_t seed) {
  std::vector<int64_t> values;
  for (const float number : random_tensor(shape, seed, 0.0f, 255.9f).as<float>())
    values.push_back(static_cast<int64_t>(number) - (dtype == DType::i8 ? 128 : 0));
  return HostTensor::from<int64_t>(dtype, shape, values);
}

OperatorCase update_of_integers(RowFormat rows, const Shape& cache, const Shape& tokens, int64_t axis,
                                const std::vector<int64_t>& first) {
  const DType dtype = rows == RowFormat::bytes ? DType::i8 : DType::u8;
  auto op = std::make_shared<CacheUpdate>();
  op->axis = axis;
  op->rows = rows;
  op->channels = cache.back();
  op->cache_type = {dtype, cache};
  OperatorCase test{.type = "CacheUpdate",
                    .inputs = {pack_bytes(any_bytes(cache, dtype, 1)), any_bytes(tokens, dtype, 2),
                               HostTensor::i64({std::ssize(first)}, first)}};
  test.op = op;
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = test.sweep.fp16 = false;
  return test;
}

TEST(CacheUpdate, WritesIntegersOfCaches) {
  check_operator(update_of_integers(RowFormat::bytes, {2, 3, 7, 8}, {2, 3, 2, 8}, 2, {5, 0}));
  check_operator(update_of_integers(RowFormat::bytes, {1, 5, 3, 20}, {1, 1, 3, 20}, 1, {4}));
  check_operator(update_of_integers(RowFormat::nibbles, {2, 2, 9, 36}, {2, 2, 1, 36}, 2, {8, 2}));
}

// Tokens are quarters from -10 to 10, and steps 1.25 times powers of two from 1/8 to 1/2: no quotient is a
// tie.
OperatorCase update_of_floats(RowFormat rows, const Shape& cache, Shape tokens, int64_t axis,
                              const Shape& scale) {
  OperatorCase test = update_of_integers(rows, cache, tokens, axis, {cache[0] > 1 ? 3 : 0});
  if (rows == RowFormat::nibbles) tokens.back() *= 2;
  HostTensor values = random_tensor(tokens, 7, -10.0f, 10.0f), steps = random_tensor(scale, 8, 0.0f, 3.0f);
  for (float& value : values.mutable_as<float>()) value = std::nearbyint(4.0f * value) / 4.0f;
  for (float& step : steps.mutable_as<float>()) step = 1.25f * std::exp2(std::floor(step) - 3.0f);
  test.inputs[1] = values;
  test.inputs[2] = HostTensor::i64({cache[0]}, std::vector<int64_t>(static_cast<size_t>(cache[0]), 1));
  test.inputs.push_back(steps);
  test.sweep.fp16 = true;
  return test;
}

TEST(CacheUpdate, QuantisesTokensByTheScaleOfTheCache) {
  const RowFormat bytes = RowFormat::bytes, nibbles = RowFormat::nibbles;
  check_operator(update_of_floats(bytes, {2, 3, 7, 8}, {2, 3, 2, 8}, 2, {1, 3, 1, 8}));
  check_operator(update_of_floats(bytes, {1, 2, 9, 20}, {1, 2, 1, 20}, 2, {1, 1, 1, 1}));
  check_operator(update_of_floats(bytes, {1, 5, 3, 12}, {1, 2, 3, 12}, 1, {1, 3, 12}));
  check_operator(update_of_floats(nibbles, {2, 3, 7, 8}, {2, 3, 3, 8}, 2, {1, 3, 1, 16}));
  check_operator(update_of_floats(nibbles, {1, 2, 9, 20}, {1, 2, 1, 20}, 2, {1}));
  OperatorCase known = update_of_floats(nibbles, {1, 3, 7, 8}, {1, 3, 2, 8}, 2, {1, 3, 1, 16});
  known.constants = {3};
  check_operator(known);
}

// A NaN becomes 0, and quotients beyond the integers the nearest of them; ties go to even.
TEST(CacheUpdate, QuantisesQuotientsThatAreNoIntegers) {
  OperatorCase test = update_of_floats(RowFormat::bytes, {1, 1, 3, 8}, {1, 1, 1, 8}, 2, {1});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {
      std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 1e9f, 0.25f, 0.75f, -1.25f, -64.25f};
  test.inputs[1] = HostTensor::f32({1, 1, 1, 8}, values);
  test.inputs[3] = random_tensor({1}, 1, 0.5f, 0.5f);
  test.sweep.fp16 = false;
  const HostTensor words = test.op->evaluate(std::vector<const HostTensor*>{
      &*test.inputs[0], &*test.inputs[1], &*test.inputs[2], &*test.inputs[3]})[0];
  const std::vector<int64_t> integers = unpack_bytes(words, DType::i8).to_ints();
  EXPECT_EQ(std::vector<int64_t>(integers.begin() + 8, integers.begin() + 16),
            (std::vector<int64_t>{0, 127, -128, 127, 0, 2, -2, -128}));
  check_operator(test);
}

// Heads before the tokens, after them, and in one dimension with the channels.
TEST(CacheUpdate, WritesRowsOfBytes) {
  check_operator(update({2, 3, 7, 8}, {2, 3, 2, 8}, 2, 8, {5, 0}));
  check_operator(update({1, 2, 9, 36}, {1, 2, 9, 36}, 2, 36, {0}));
  check_operator(update({2, 5, 3, 4}, {2, 1, 3, 4}, 1, 4, {4, 2}));
  check_operator(update({2, 6, 40}, {2, 3, 40}, 1, 20, {1, 3}));
}

TEST(CacheUpdate, RowsOfZerosAndWithoutFiniteValues) {
  OperatorCase test = update({1, 2, 5, 8}, {1, 2, 2, 8}, 2, 8, {2});
  test.sweep.fp16 = false;  // halves have no infinities on some devices
  const auto values = test.inputs[1]->mutable_as<float>();
  std::fill_n(values.begin(), 8, 0.0f);
  values[9] = std::numeric_limits<float>::quiet_NaN();
  values[20] = -std::numeric_limits<float>::infinity();
  check_operator(test);
  const HostTensor rows = from_byte_rows(to_byte_rows(*test.inputs[1], 8), 8);
  EXPECT_EQ(rows.as<float>()[3], 0.0f);
  EXPECT_TRUE(std::isnan(rows.as<float>()[8]));
  EXPECT_TRUE(std::isnan(rows.as<float>()[23]));
  EXPECT_EQ(rows.as<float>()[24], test.inputs[1]->as<float>()[24]);
}

struct Sizes {
  int64_t queries, keys, heads, kv_heads, depth, channels;
  std::vector<int64_t> lengths;
  int64_t window = 0;
  bool has_mask = false;
  RowFormat rows = RowFormat::scaled_bytes;
};

HostTensor cache_of(const Sizes& s, const Shape& shape, uint32_t seed) {
  if (s.rows == RowFormat::scaled_bytes) return to_byte_rows(random_tensor(shape, seed), shape.back());
  Shape bytes = shape;
  if (s.rows == RowFormat::nibbles) bytes.back() /= 2;
  return pack_bytes(any_bytes(bytes, s.rows == RowFormat::bytes ? DType::i8 : DType::u8, seed));
}

Shape words_shape(const Sizes& s, Shape shape) {
  shape.back() = words_of_row(s.rows, shape.back());
  return shape;
}

OperatorCase attention(const Sizes& s) {
  const auto batches = std::ssize(s.lengths);
  const Shape q{batches, s.heads, s.queries, s.depth}, k{batches, s.kv_heads, s.keys, s.depth},
      v{batches, s.kv_heads, s.keys, s.channels};
  auto op = std::make_shared<Attention>();
  op->causal = true;
  op->window = s.window;
  op->cache_rows = s.rows;
  // Scores of integers are within some units.
  if (s.rows != RowFormat::scaled_bytes) op->scale = s.rows == RowFormat::bytes ? 1.0f / 1024 : 1.0f / 64;
  StridedView k_rows{0, k, row_major_strides(words_shape(s, k))},
      v_rows{0, v, row_major_strides(words_shape(s, v))};
  op->views = {StridedView{0, q, row_major_strides(q)}, k_rows, v_rows};
  op->output = {batches, s.heads, s.queries, s.channels};
  OperatorCase test{
      .type = "Attention",
      .inputs = {random_tensor(q, 1), cache_of(s, k, 2), cache_of(s, v, 3),
                 s.has_mask ? std::optional(random_tensor({s.queries, s.keys}, 4)) : std::nullopt,
                 HostTensor::i64({batches}, s.lengths)}};
  test.op = op;
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  return test;
}

TEST(Attention, OfCachesInBytes) {
  check_operator(attention({1, 67, 4, 2, 8, 8, {67, 1}}));
  check_operator(attention({5, 67, 4, 2, 8, 12, {34, 5}}));
  check_operator(attention({3, 30, 2, 2, 20, 20, {30, 7}, 4}));
  check_operator(attention({9, 40, 3, 3, 8, 4, {40, 22}, 9, true}));
}

TEST(Attention, OfCachesOfPackedIntegers) {
  for (const RowFormat rows : {RowFormat::bytes, RowFormat::nibbles}) {
    check_operator(attention({1, 67, 4, 2, 8, 8, {67, 1}, 0, false, rows}));
    check_operator(attention({3, 30, 2, 2, 16, 24, {30, 7}, 4, false, rows}));
    check_operator(attention({9, 40, 3, 3, 24, 8, {40, 22}, 9, true, rows}));
    check_operator(attention({1, 200, 8, 2, 64, 64, {180}, 0, false, rows}));
    check_operator(attention({2, 21, 2, 1, 128, 256, {18}, 0, false, rows}));
  }
}

// Heads of many sizes, whose rows begin at every offset within 16 bytes.
TEST(Attention, OfCachesInBytesWithHeadsOfManySizes) {
  for (const int64_t channels : {16, 20, 36, 64, 80, 100, 128, 256})
    check_operator(attention({1, 21, 4, 2, channels, channels, {18}}));
  check_operator(attention({2, 33, 2, 1, 64, 128, {33, 6}, 7}));
  check_operator(attention({7, 40, 4, 1, 48, 36, {40}, 0, true}));
}

TEST(Attention, OfCachesInBytesOfEveryLength) {
  for (const int64_t length : {1, 2, 5, 64, 1000, 5000})
    check_operator(attention({1, 5000, 2, 1, 16, 16, {length}}));
  check_operator(attention({70, 300, 2, 1, 32, 32, {300}}));
}

// Words are loaded as texels of four bytes where that is faster and the device's limits allow it.
TEST(Attention, OfCachesInBytesAsTexels) {
  const OperatorCase test = attention({2, 30, 4, 2, 20, 20, {30, 8}});
  const auto texel_buffers = [&](const DeviceCaps& caps) {
    const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
    int64_t count = 0;
    for (const Task& task : program.tasks)
      for (const Binding& binding : task.dispatch->bindings)
        count += binding.of_bytes && binding.texel_buffer;
    return count;
  };
  DeviceCaps caps = test_context()->caps();
  for (const bool as_texels : {false, true}) {
    caps.reads_buffers_as_texels = as_texels;
    EXPECT_EQ(texel_buffers(caps), as_texels || device_traits(caps).samples_texel_buffers ? 2 : 0);
    check_operator(test, caps);
    for (const RowFormat rows : {RowFormat::bytes, RowFormat::nibbles})
      check_operator(attention({2, 30, 4, 2, 24, 16, {30, 8}, 0, false, rows}), caps);
  }
  caps.max_texel_buffer_elements = 100;
  EXPECT_EQ(texel_buffers(caps), 0);
}

// Scales that differ by magnitudes, of rows that the loop reads together.
TEST(Attention, OfCachesInBytesWithScalesOfTheirOwn) {
  OperatorCase test = attention({2, 23, 2, 1, 8, 8, {23}});
  for (const size_t input : {1u, 2u}) {
    HostTensor rows = random_tensor({1, 1, 23, 8}, static_cast<uint32_t>(input));
    size_t i = 0;
    for (float& value : rows.mutable_as<float>())
      value *= std::ldexp(1.0f, static_cast<int>(i++ / 8 % 6) - 3);
    test.inputs[input] = to_byte_rows(rows, 8);
  }
  check_operator(test);
}

// With few storage buffers the caches are gathered and expanded.
TEST(Attention, OfCachesInBytesWithFewBuffers) {
  DeviceCaps caps = test_context()->caps();
  caps.max_storage_buffers_per_stage = 4;
  for (const RowFormat rows : {RowFormat::scaled_bytes, RowFormat::bytes, RowFormat::nibbles}) {
    const OperatorCase test = attention({3, 21, 4, 2, 8, 24, {21, 6}, 0, false, rows});
    const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
    EXPECT_EQ(program.tasks.front().dispatch->shader, "attention_pack");
    check_operator(test, caps);
  }
}

}  // namespace byte_caches_test
}  // namespace vellum::test
