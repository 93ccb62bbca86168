// GroupQueryAttention of com.microsoft with caches in 8 and 4 bits, with norms of queries and keys, and what
// it refuses. tests/oracles/onnx_contrib.py prints these values, which ONNX Runtime computes: the products of
// each row with eighths({width}, 9).
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

using AttributeValues = std::vector<std::pair<std::string, Attributes::Value>>;

HostTensor word(const Shape& shape, int64_t value) {
  return HostTensor::from<int64_t>(DType::i32, shape, Ints{value});
}

void expect_products(const HostTensor& y, const Floats& expected) {
  const Floats values = y.to_floats(), factors = eighths({y.shape().back()}, 9).to_floats();
  ASSERT_EQ(values.size(), expected.size() * factors.size()) << to_string(y.shape());
  for (size_t i = 0; i < expected.size(); ++i) {
    const float product =
        std::inner_product(factors.begin(), factors.end(), &values[i * factors.size()], 0.0f);
    EXPECT_NEAR(product, expected[i], 2e-5f) << "row " << i;
  }
}

struct CacheForm {
  std::string kind;
  int64_t bits = 8, tokens = 1, past = 6, length = 6;
};

// Sixteenths, or 1 / 64 and 1 / 32 of 2 + |eighths|.
HostTensor scale_of(const CacheForm& form, float factor, int64_t seed) {
  if (form.kind == "PER_TENSOR") return floats({1}, {factor});
  HostTensor scales = eighths({1, 2, 1, 16}, seed);
  for (float& scale : scales.mutable_as<float>()) scale = factor * (2.0f + std::fabs(scale));
  return scales;
}

// Integers from -16 to 16; for 4 bits their bytes.
HostTensor codes(const CacheForm& form, int64_t seed) {
  const HostTensor numbers = eighths({1, 2, form.past, form.bits == 8 ? 16 : 8}, seed);
  Ints values;
  for (const float number : numbers.to_floats()) {
    const auto code = static_cast<int64_t>(16.0f * number);
    values.push_back(form.bits == 4 && code < 0 ? code + 256 : code);
  }
  return HostTensor::from<int64_t>(form.bits == 8 ? DType::i8 : DType::u8, numbers.shape(), values);
}

std::pair<Spec, OptionalTensors> integer_form(const CacheForm& form) {
  OptionalTensors inputs{eighths({1, form.tokens, 64}, 1),
                         eighths({1, form.tokens, 32}, 2),
                         eighths({1, form.tokens, 32}, 3),
                         codes(form, 4),
                         codes(form, 5),
                         word({1}, form.length - 1),
                         word({}, form.length)};
  inputs.resize(12);
  inputs.push_back(scale_of(form, 1.0f / 64.0f, 6));
  inputs.push_back(scale_of(form, 1.0f / 32.0f, 7));
  const AttributeValues attributes{{"num_heads", int64_t{4}},
                                   {"kv_num_heads", int64_t{2}},
                                   {"k_quant_type", form.kind},
                                   {"v_quant_type", form.kind},
                                   {"kv_cache_bit_width", form.bits}};
  return {Spec{"com.microsoft.GroupQueryAttention", 1, attributes, 3}, inputs};
}

void expect_integers(const CacheForm& form, const Floats& y, const Floats& keys, const Floats& values) {
  SCOPED_TRACE(form.kind + " " + std::to_string(form.bits) + " bits, tokens " + std::to_string(form.tokens));
  const auto [spec, inputs] = integer_form(form);
  const std::vector<HostTensor> results = run_all(*make(spec, inputs), inputs);
  EXPECT_EQ(results.at(1).dtype(), form.bits == 8 ? DType::i8 : DType::u8);
  expect_products(results.at(0), y);
  expect_products(results.at(1), keys);
  expect_products(results.at(2), values);
}

TEST(GroupQueryAttention, ReadsIntegersWithOneScale) {
  expect_integers(
      {"PER_TENSOR", 8, 1, 6, 6}, {1.239148f},
      {-46.0f, 36.25f, -17.5f, -24.5f, 32.25f, 252.0f, 65.0f, -31.25f, -8.5f, 5.75f, -43.75f, -184.0f},
      {5.75f, -43.75f, 98.0f, -40.75f, 11.75f, -17.0f, -36.25f, 63.0f, -46.0f, 36.25f, -17.5f, 11.5f});
  expect_integers(
      {"PER_TENSOR", 8, 3, 3, 6}, {1.6256505f, -1.3652885f, -2.7408599f},
      {-46.0f, 36.25f, -17.5f, 252.0f, 145.0f, -98.0f, -24.5f, 32.25f, -47.0f, -184.0f, -70.0f, 129.0f},
      {5.75f, -43.75f, 98.0f, -17.0f, -87.5f, -81.5f, -40.75f, 11.75f, -16.5f, 11.5f, 196.0f, 23.5f});
  expect_integers({"PER_TENSOR", 4, 1, 6, 6}, {0.2064786f},
                  {456.25f, -76.25f, -276.0f, 429.0f, 148.25f, -251.75f, -69.75f, 232.0f, -243.0f, -180.25f,
                   456.5f, -48.0f},
                  {-76.25f, -276.0f, 429.0f, 148.25f, -469.75f, 135.125f, 232.0f, -243.0f, -180.25f, 456.5f,
                   20.0f, -255.0f});
  expect_integers({"PER_TENSOR", 4, 3, 3, 6}, {0.081555866f, -0.12655609f, -0.070459323f},
                  {456.25f, -76.25f, -276.0f, -251.75f, 182.625f, 167.125f, 429.0f, 148.25f, -469.75f, -48.0f,
                   -138.5f, -268.5f},
                  {-76.25f, -276.0f, 429.0f, 135.125f, 239.25f, -155.375f, 148.25f, -469.75f, -69.75f,
                   -255.0f, -22.25f, 128.625f});
}

TEST(GroupQueryAttention, ReadsIntegersWithAScaleForEachChannel) {
  expect_integers(
      {"PER_CHANNEL", 8, 1, 6, 6}, {6.7318645f},
      {-46.0f, 36.25f, -17.5f, -24.5f, 32.25f, 93.75f, 65.0f, -31.25f, -8.5f, 5.75f, -43.75f, -74.5f},
      {5.75f, -43.75f, 98.0f, -40.75f, 11.75f, -5.375f, -36.25f, 63.0f, -46.0f, 36.25f, -17.5f, 5.875f});
  expect_integers(
      {"PER_CHANNEL", 8, 3, 3, 6}, {7.0102593f, -2.1755033f, -2.8215257f},
      {-46.0f, 36.25f, -17.5f, 93.75f, 56.0f, -32.125f, -24.5f, 32.25f, -47.0f, -74.5f, -25.625f, 54.5f},
      {5.75f, -43.75f, 98.0f, -5.375f, -34.875f, -34.875f, -40.75f, 11.75f, -16.5f, 5.875f, 72.25f, 10.375f});
  expect_integers({"PER_CHANNEL", 4, 1, 6, 6}, {0.65164455f},
                  {456.25f, -76.25f, -276.0f, 429.0f, 148.25f, -252.625f, -69.75f, 232.0f, -243.0f, -180.25f,
                   456.5f, -62.0f},
                  {-76.25f, -276.0f, 429.0f, 148.25f, -469.75f, 191.125f, 232.0f, -243.0f, -180.25f, 456.5f,
                   20.0f, -196.25f});
  expect_integers({"PER_CHANNEL", 4, 3, 3, 6}, {0.15492588f, -0.74289255f, -0.85288668f},
                  {456.25f, -76.25f, -276.0f, -252.625f, 182.25f, 183.5f, 429.0f, 148.25f, -469.75f, -62.0f,
                   -144.125f, -201.375f},
                  {-76.25f, -276.0f, 429.0f, 191.125f, 150.0f, -118.125f, 148.25f, -469.75f, -69.75f,
                   -196.25f, -72.5f, 184.625f});
}

// The norms precede the rotation.
TEST(GroupQueryAttention, NormalisesQueriesAndKeys) {
  OptionalTensors inputs{eighths({1, 2, 64}, 1),
                         eighths({1, 2, 32}, 2),
                         eighths({1, 2, 32}, 3),
                         eighths({1, 2, 3, 16}, 4),
                         eighths({1, 2, 3, 16}, 5),
                         word({1}, 4),
                         word({}, 5),
                         eighths({32, 8}, 6),
                         eighths({32, 8}, 7)};
  inputs.resize(14);
  for (const int64_t seed : {10, 11}) {
    HostTensor weight = eighths({16}, seed);
    for (float& value : weight.mutable_as<float>()) value += 2.0f;
    inputs.push_back(weight);
  }
  const Spec spec{"com.microsoft.GroupQueryAttention",
                  1,
                  {{"num_heads", int64_t{4}},
                   {"kv_num_heads", int64_t{2}},
                   {"do_rotary", int64_t{1}},
                   {"q_norm_epsilon", 0.5f},
                   {"qk_norm_epsilon", 0.25f}},
                  3};
  const std::vector<HostTensor> results = run_all(*make(spec, inputs), inputs);
  expect_products(results.at(0), {2.4682312f, -6.1109999f});
  expect_products(results.at(1), {-2.875f, 2.265625f, -1.09375f, -0.82858358f, -2.82662f, -1.53125f,
                                  2.015625f, -2.9375f, -2.4990407f, 2.8408341f});
  expect_products(results.at(2), {0.359375f, -2.734375f, 6.125f, -0.53125f, -2.734375f, -2.546875f, 0.734375f,
                                  -1.03125f, 0.359375f, 6.125f});
}

TEST(GroupQueryAttention, RefusesIntegersThatDoNotFit) {
  auto [spec, inputs] = integer_form({.kind = "PER_CHANNEL"});
  OptionalTensors other = inputs;
  other[12] = floats({1}, {1.0f});
  expect_refused(spec, other, "in place of 16 channels of 2 heads");
  other[12].reset();
  expect_refused(spec, other, "scale of a cache");
  other = inputs;
  other[3] = eighths({1, 2, 6, 16}, 4);
  expect_refused(spec, other, "but they must have the same type");
  Spec unknown = spec;
  unknown.attributes[2].second = std::string("PER_TOKEN");
  expect_refused(unknown, inputs, "k_quant_type is PER_TOKEN");
  unknown = spec;
  unknown.attributes[4].second = int64_t{6};
  expect_refused(unknown, inputs, "kv_cache_bit_width is 6");
}

// Attributes that change the result.
TEST(GroupQueryAttention, RefusesOtherFormsOfCachesAndMasks) {
  const auto [spec, inputs] = integer_form({.kind = "PER_TENSOR"});
  Spec other = spec;
  other.attributes.emplace_back("causal", int64_t{0});
  expect_refused(other, inputs, "not causal", ErrorCode::unsupported);
  OptionalTensors padded = inputs;
  padded.resize(16);
  padded.push_back(word({1}, 1));
  expect_refused(spec, padded, "padded queries", ErrorCode::unsupported);
}

}  // namespace
}  // namespace vellum::testing
