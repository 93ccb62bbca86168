#include "graph/narrow_types.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

constexpr int64_t kBfloat16 = 16, kE4m3fn = 17, kE4m3fnuz = 18, kE5m2 = 19, kE5m2fnuz = 20, kUint4 = 21,
                  kInt4 = 22, kE2m1 = 23, kInt2 = 26;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float rounded(int64_t type, float value, bool saturate = true) {
  return static_cast<float>(round_to(*find_narrow_type(type)->format, static_cast<double>(value), saturate));
}

TEST(NarrowTypes, RoundHalfToEvenAndSaturate) {
  EXPECT_EQ(rounded(kBfloat16, 1.00390625f), 1.0f);  // halfway to 1.0078125
  EXPECT_EQ(rounded(kBfloat16, 1.01171875f), 1.015625f);
  EXPECT_EQ(rounded(kE4m3fn, 17.0f), 16.0f);
  EXPECT_EQ(rounded(kE4m3fn, -19.0f), -20.0f);
  EXPECT_EQ(rounded(kE4m3fn, 0.001f), 0x1p-9f);  // the smallest number
  EXPECT_EQ(rounded(kE4m3fn, 0.0009f), 0.0f);
  EXPECT_EQ(rounded(kE4m3fn, 1e6f), 448.0f);
  EXPECT_EQ(rounded(kE4m3fnuz, kInfinity), 240.0f);
  EXPECT_EQ(rounded(kE5m2, -1e6f, false), -kInfinity);
  EXPECT_TRUE(std::isnan(rounded(kE4m3fn, 1e6f, false)));
  EXPECT_EQ(rounded(kE2m1, 2.5f), 2.0f);
  EXPECT_EQ(rounded(kE2m1, 100.0f, false), 6.0f);
}

TEST(NarrowTypes, EveryCodeRoundsToItself) {
  for (const int64_t number : {kBfloat16, kE4m3fn, kE4m3fnuz, kE5m2, kE5m2fnuz, kE2m1}) {
    const NarrowType& type = *find_narrow_type(number);
    const uint32_t codes = 1u << type.bits;
    for (uint32_t code = 0; code < codes; ++code) {
      const std::array bytes{static_cast<std::byte>(code), static_cast<std::byte>(code >> 8)};
      const float value = unpack(type, {1}, bytes).as<float>()[0];
      if (std::isnan(value)) continue;
      EXPECT_EQ(rounded(number, value, false), value) << type.name << " " << code;
    }
  }
}

TEST(NarrowTypes, AreUnpackedFromTheLowestBitOn) {
  const std::array bytes{std::byte{0x9f}, std::byte{0x07}};
  const auto unpacked = [&](int64_t type, const Shape& shape) {
    return unpack(*find_narrow_type(type), shape, bytes).to_ints();
  };
  EXPECT_EQ(unpacked(kInt4, {3}), (Ints{-1, -7, 7}));
  EXPECT_EQ(unpacked(kUint4, {3}), (Ints{15, 9, 7}));
  EXPECT_EQ(unpacked(kInt2, {5}), (Ints{-1, -1, 1, -2, -1}));
  EXPECT_EQ(packed_bytes(*find_narrow_type(kInt2), 5), 2u);
  EXPECT_EQ(packed_bytes(*find_narrow_type(kBfloat16), 5), 10u);
}

TEST(NarrowTypes, CastKeepsTheLowestBitsOfIntegers) {
  expect_ints(run({"Cast", 25, {{"to", kInt4}}}, {floats({4}, {7.9f, 8, -9, 16})}), {4}, {7, -8, 7, 0});
  expect_ints(run({"Cast", 25, {{"to", kUint4}}}, {floats({3}, {-1, 15, 17})}), {3}, {15, 15, 1});
  expect_floats(run({"Cast", 25, {{"to", kE4m3fn}, {"saturate", int64_t{1}}}}, {floats({2}, {17, -1000})}),
                {2}, {16, -448});
}

TEST(NarrowTypes, QuantisationSaturatesToTheirRange) {
  const HostTensor x = floats({1, 4}, {-100, 2, 5, 100}), scale = floats({1, 2}, {2, 5});
  expect_ints(run({"QuantizeLinear", 25, {{"output_dtype", kInt4}, {"block_size", int64_t{2}}}}, {x, scale}),
              {1, 4}, {-8, 1, 1, 7});
  expect_ints(run({"QuantizeLinear", 25, {{"output_dtype", kInt4}}}, {x, floats({}, {2})}), {1, 4},
              {-8, 1, 2, 7});
  expect_floats(run({"QuantizeLinear", 25, {{"output_dtype", kE4m3fn}}}, {x, floats({}, {0.125f})}), {1, 4},
                {-448, 16, 40, 448});
}

TEST(NarrowTypes, DequantisationHasAScaleForEachBlock) {
  const HostTensor x = cast(ints({2, 3}, {1, 2, 3, 4, 5, 6}), DType::i8),
                   scale = floats({2, 2}, {1, 10, 100, 1000}),
                   zero = cast(ints({2, 2}, {0, 1, 2, 3}), DType::i8);
  expect_floats(run({"DequantizeLinear", 25, {{"block_size", int64_t{2}}}}, {x, scale, zero}), {2, 3},
                {1, 2, 20, 200, 300, 3000});
  // Floats stand for those of 8 bits.
  expect_floats(run({"DequantizeLinear", 25, {{"axis", int64_t{0}}}},
                    {floats({2, 1}, {1.5f, -3}), floats({2}, {2, 3})}),
                {2, 1}, {3, -9});
}

}  // namespace
}  // namespace vellum::testing
