#include "graph/tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "graph/halves.hpp"
#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(Shape, CountsElementsAndRefusesOverflow) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({1 << 30, 1 << 30, 1 << 30, 0}), 0)
      << "an empty tensor is small, whatever its other sizes";
  expect_error(ErrorCode::unsupported, "too many elements", [] {
    element_count({1 << 30, 1 << 30, 1 << 30});
  });
  expect_error(ErrorCode::invalid_argument, "not known", [] { element_count({1, kUnknownDim}); });
}

TEST(Shape, PrintsWithUnknownDimensions) {
  EXPECT_EQ(to_string(Shape{1, kUnknownDim, 224}), "1x?x224");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Shape, BroadcastsAsNumpy) {
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast({0}, {1}), (Shape{0}));
  expect_error(ErrorCode::invalid_argument, "do not broadcast", [] { broadcast({2}, {3}); });
}

TEST(Shape, RefusesTensorsOfMoreThanTwoToThe31Elements) {
  expect_error(ErrorCode::unsupported, "2^31", [] { HostTensor(DType::u8, {(int64_t{1} << 31) + 1}); });
}

TEST(HostTensor, CopiesShareBytesUntilOneIsWritten) {
  HostTensor a = floats({2}, {1, 2});
  HostTensor b = a;
  EXPECT_EQ(a.data(), b.data());
  b.mutable_as<float>()[0] = 9;
  expect_floats(a, {2}, {1, 2});
  expect_floats(b, {2}, {9, 2});
}

TEST(HostTensor, NeverWritesToTheBytesOfACaller) {
  const auto bytes = std::make_shared<std::array<float, 2>>(std::array<float, 2>{1, 2});
  HostTensor tensor(
      DType::f32, {2},
      std::shared_ptr<const std::byte>(bytes, reinterpret_cast<const std::byte*>(bytes->data())));
  EXPECT_EQ(tensor.data(), reinterpret_cast<const std::byte*>(bytes->data()));
  tensor.mutable_as<float>()[0] = 9;
  EXPECT_EQ((*bytes)[0], 1.0f);
}

TEST(HostTensor, ReadsBytesThatAreNotAligned) {
  const auto bytes = std::make_shared<std::array<std::byte, 9>>();
  const float value = 1.5f;
  std::memcpy(bytes->data() + 1, &value, sizeof value);
  const HostTensor tensor(DType::f32, {1}, std::shared_ptr<const std::byte>(bytes, bytes->data() + 1));
  EXPECT_EQ(tensor.as<float>()[0], 1.5f);
}

TEST(HostTensor, RefusesElementsOfAnotherType) {
  const auto refuses = [](const char* text, auto&& view) {
    expect_error(ErrorCode::invalid_argument, text, view);
  };
  refuses("float32", [] { floats({1}, {1}).as<int64_t>(); });
  refuses("signed integers of 4 bytes", [] { floats({1}, {1}).as<int32_t>(); });
  refuses("int32", [] { HostTensor(DType::i32, {1}).as<float>(); });
  refuses("uint32", [] { HostTensor(DType::u32, {1}).mutable_as<int32_t>(); });
  refuses("bool", [] { HostTensor(DType::boolean, {1}).as<int8_t>(); });
  EXPECT_EQ(HostTensor(DType::f16, {2}).as<uint16_t>().size(), 2u);
  EXPECT_EQ(HostTensor(DType::boolean, {3}).as<uint8_t>().size(), 3u);
}

TEST(HostTensor, ReshapesToEqualCountsOnly) {
  expect_floats(counting({2, 3}).reshaped({6}), {6}, {0, 1, 2, 3, 4, 5});
  expect_error(ErrorCode::invalid_argument, "2x3", [] { counting({2, 3}).reshaped({5}); });
}

TEST(Cast, SaturatesFloatsToIntegers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor x = floats({5}, {-1e20f, 1e20f, nan, -1.9f, 200.7f});
  EXPECT_EQ(cast(x, DType::i64).to_ints(), (Ints{INT64_MIN, INT64_MAX, 0, -1, 200}));
  EXPECT_EQ(cast(x, DType::u8).to_ints(), (Ints{0, 255, 0, 0, 200}));
  EXPECT_EQ(cast(x, DType::i8).to_ints(), (Ints{-128, 127, 0, -1, 127}));
}

TEST(Cast, MakesBooleansOfAnythingNotZero) {
  EXPECT_EQ(cast(floats({4}, {0, -0.0f, 0.25f, NAN}), DType::boolean).to_ints(), (Ints{0, 0, 1, 1}));
}

TEST(Half, SurvivesTheWayThroughFloatForEveryBitPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), half);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(half_to_float(float_to_half(2049.0f)), 2048.0f);  // a tie between 2048 and 2050
  EXPECT_EQ(half_to_float(float_to_half(2051.0f)), 2052.0f);  // a tie between 2050 and 2052
  EXPECT_EQ(half_to_float(float_to_half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(half_to_float(float_to_half(65520.0f))));
  EXPECT_EQ(float_to_half(std::ldexp(1.0f, -25)), 0) << "a tie between zero and the smallest subnormal";
  EXPECT_EQ(float_to_half(std::ldexp(1.5f, -25)), 1);
}

// No other half is nearer; of two as near the even one is taken. Largest halves have infinity beside them, as
// if it were 65536.
TEST(Half, ManyAtOnceAreTheNearest) {
  std::vector<float> floats;
  uint32_t state = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 1664525u + 1013904223u;
    const float fraction = 1.0f + static_cast<float>(state >> 9) / static_cast<float>(1 << 23);
    const float value = std::ldexp(fraction, static_cast<int>(state >> 3) % 46 - 28);
    floats.push_back(state & 1u ? -value : value);
  }
  std::vector<uint16_t> halves(floats.size());
  to_halves(floats, halves.data());
  const auto number = [](int half) {
    return half == 0x7c00 ? 65536.0 : double{half_to_float(static_cast<uint16_t>(half))};
  };
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(halves[i], float_to_half(floats[i]));
    ASSERT_EQ(halves[i] >> 15, std::signbit(floats[i]));
    const int half = halves[i] & 0x7fff;
    const double value = std::abs(floats[i]), off = std::abs(number(half) - value);
    for (const int beside : {half - 1, half + 1})
      if (beside >= 0 && beside <= 0x7c00) {
        const double other = std::abs(number(beside) - value);
        ASSERT_TRUE(off < other || (off == other && half % 2 == 0)) << floats[i];
      }
  }
}

}  // namespace
}  // namespace vellum::testing
