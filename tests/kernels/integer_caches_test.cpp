// GroupQueryAttention of com.microsoft with caches in 8 and 4 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace integer_caches_test {

// Multiples of 1/16, whose quotients by the scales are exact, so that all kernels round them alike.
HostTensor sixteenths(Shape shape, uint32_t seed) {
  HostTensor values = random_tensor(std::move(shape), seed, -20.0f, 20.0f);
  for (float& value : values.mutable_as<float>()) value = std::nearbyint(value) / 16.0f;
  return values;
}

HostTensor scales(const std::string& kind, int64_t channels) {
  HostTensor result =
      random_tensor(kind == "PER_TENSOR" ? Shape{1} : Shape{1, 2, 1, channels}, 7, 0.0f, 3.0f);
  for (float& value : result.mutable_as<float>()) value = std::exp2(std::floor(value) - 5.0f);
  return result;
}

HostTensor cache(int64_t bits, int64_t past, int64_t channels, uint32_t seed) {
  const HostTensor numbers = random_tensor({1, 2, past, channels * bits / 8}, seed, 0.0f, 255.0f);
  std::vector<int64_t> codes;
  for (const float number : numbers.as<float>())
    codes.push_back(static_cast<int64_t>(number) - (bits == 8 ? 128 : 0));
  return HostTensor::from<int64_t>(bits == 8 ? DType::i8 : DType::u8, numbers.shape(), codes);
}

OperatorCase group_query(const std::string& kind, int64_t bits, int64_t tokens, int64_t past, int64_t length,
                         int64_t channels, int64_t window = -1) {
  const auto word = [](const Shape& shape, int64_t value) {
    return HostTensor::from<int64_t>(DType::i32, shape, std::vector<int64_t>{value});
  };
  OperatorCase test{
      .type = "com.microsoft.GroupQueryAttention",
      .inputs = {sixteenths({1, tokens, 4 * channels}, 1), sixteenths({1, tokens, 2 * channels}, 2),
                 sixteenths({1, tokens, 2 * channels}, 3), cache(bits, past, channels, 4),
                 cache(bits, past, channels, 5), word({1}, length - 1), word({}, past)},
      .constants = {6},
      .opset = 1,
      .output_count = 3};
  test.inputs.resize(12);
  test.inputs.emplace_back(scales(kind, channels));
  test.inputs.emplace_back(scales(kind, channels));
  test.constants.insert({12, 13});
  for (const char* type : {"k_quant_type", "v_quant_type"}) test.attributes.set(type, kind);
  test.attributes.set("num_heads", int64_t{4});
  test.attributes.set("kv_num_heads", int64_t{2});
  test.attributes.set("kv_cache_bit_width", bits);
  test.attributes.set("local_window_size", window);
  test.sweep.channels4_inputs = test.sweep.arithmetic_fp16 = false;
  return test;
}

TEST(GroupQueryAttention, OfCachesOfIntegers) {
  for (const char* kind : {"PER_TENSOR", "PER_CHANNEL"})
    for (const int64_t bits : {8, 4}) {
      check_operator(group_query(kind, bits, 1, 9, 6, 16));
      check_operator(group_query(kind, bits, 3, 9, 9, 12, 4));
    }
}

}  // namespace integer_caches_test
}  // namespace vellum::test
