// Products in fixed point. The expected integers are those of an evaluation of LiteRT's formula in Python's
// integers.
#include "graph/operators/conv/fixed_point.hpp"

#include <gtest/gtest.h>

namespace vellum::test {
namespace {

TEST(FixedPoint, MultipliesAsLiteRtDoes) {
  struct Product {
    int32_t sum;
    double by;
    int32_t expected;
  };
  constexpr Product kProducts[] = {
      {12345, 0.0371, 458},
      {-12345, 0.0371, -458},
      {7, 0.5, 4},
      {-7, 0.5, -3},
      {3, 1.5, 5},
      {-3, 1.5, -4},
      {1000000, 0.00021, 210},
      {-1000001, 1.25e-05, -13},
      {129, 0.00390625, 1},
      {5, 0.0999999, 1},  // 0.4999995: the first rounding makes it a half
      {9, 0.0, 0},
  };
  for (const auto& [sum, by, expected] : kProducts)
    EXPECT_EQ(multiply(sum, fixed_multiplier(by)), expected) << sum << " * " << by;
}

TEST(FixedPoint, RoundsOnceWhereAskedTo) {
  FixedPoint fixed{
      .w_scale = {1, 1}, .bias = {0, 0}, .multipliers = {fixed_multiplier(0.0999999), fixed_multiplier(0.5)}};
  EXPECT_EQ(fixed.result(5, 0), 1) << "0.4999995 is a half after the first rounding";
  fixed.rounds_once = true;
  EXPECT_EQ(fixed.result(5, 0), 0);
  EXPECT_EQ(fixed.result(-5, 1), -2) << "-2.5, up";
  EXPECT_TRUE(fixed.of_channels(1, 1).rounds_once);
}

// LiteRT's multipliers of 64-bit sums have 15 bits.
TEST(FixedPoint, MultipliesLongSumsBy15Bits) {
  const FixedMultiplier third = short_multiplier(fixed_multiplier(0.3));
  EXPECT_EQ(third, (FixedMultiplier{19661 << 16, -1}));
  EXPECT_EQ(short_multiplier({0x7fffffff, 0}), (FixedMultiplier{0x7fff << 16, 0}));
  const FixedPoint fixed{
      .w_scale = {1}, .bias = {int64_t{1} << 40}, .multipliers = {{1 << 30, -25}}, .has_16_bits = true};
  EXPECT_EQ(fixed.result(0, 0), 1 << 14);
  EXPECT_EQ(fixed.result(int64_t{1} << 25, 0), (1 << 14) + 1) << "half of a step is rounded up";
  EXPECT_EQ(fixed.result(-(int64_t{1} << 25), 0), 1 << 14);
  EXPECT_EQ(fixed.result(-(int64_t{1} << 25) - 1, 0), (1 << 14) - 1);
  EXPECT_TRUE(fixed.of_channels(0, 1).has_16_bits);
}

TEST(FixedPoint, KnowsWhichLongSumsFit) {
  const auto with = [](int64_t bias, double multiplier) {
    return FixedPoint{.x_scale = 0.1f,
                      .w_scale = {1},
                      .bias = {bias},
                      .multipliers = {fixed_multiplier(multiplier)},
                      .has_16_bits = true};
  };
  EXPECT_TRUE(with(0, 0.9).fits_int64(131071));
  EXPECT_FALSE(with(0, 0.9).fits_int64(131072));
  EXPECT_FALSE(with(int64_t{1} << 47, 0.9).fits_int64(1));
  EXPECT_TRUE(with(0, 16383.0).fits_int64(1));
  EXPECT_FALSE(with(0, 16384.0).fits_int64(1));
}

TEST(FixedPoint, CombinesTwoTensorsAsLiteRtDoes) {
  const FixedPair sum = fixed_sum(0.5f, 0.25f, 1.0f), product = fixed_product(0.5f, 0.3f, 40.0f);
  EXPECT_EQ(add_integers(3, 1, sum), 2) << "1.75";
  EXPECT_EQ(add_integers(2, 2, sum), 2) << "1.5";
  EXPECT_EQ(add_integers(-2, -2, sum), -2) << "-1.5";
  EXPECT_EQ(add_integers(1, 0, sum), 1) << "a half, away from zero";
  EXPECT_EQ(subtract_integers(0, 2, sum), -1);
  EXPECT_EQ(multiply_integers(100, 200, product), 75);
  EXPECT_EQ(multiply_integers(-255, 255, product), -244) << "-243.84";
  EXPECT_EQ(add_integers(1, 3, sum.swapped()), 2) << "1.75";
  EXPECT_FALSE(fixed_sum(1.0f, 1.0f, 1e-7f)) << "LiteRT refuses a factor of the sum above 1";
  EXPECT_FALSE(fixed_product(1.0f, 1.0f, 1e-7f)) << "beyond int32";
  const FixedPair wide = fixed_sum(0.5f, 0.25f, 1.0f, 16);
  EXPECT_EQ(add_integers(32767, 32767, wide), 24575) << "24575.25";
  EXPECT_EQ(add_integers(-32768, -32768, wide), -24576);
  EXPECT_EQ(subtract_integers(32767, -32768, wide), 24576) << "24575.5";
  EXPECT_FALSE(fixed_product(1.0f, 1.0f, 1.0f, 16)) << "2^30 shifted to the left";
}

TEST(FixedPoint, DividesByChannels) {
  FixedPoint fixed{.w_scale = {1, 2, 3}, .bias = {4, 5, 6}, .multipliers = {{1, 2}, {3, 4}, {5, 6}}};
  const FixedPoint part = fixed.of_channels(1, 2);
  EXPECT_EQ(part.w_scale, (std::vector<float>{2, 3}));
  EXPECT_EQ(part.bias, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(part.multipliers.at(1).shift, 6);
}

TEST(FixedPoint, FitsActivationsThatRoundToItsScale) {
  FixedPoint fixed;
  fixed.y_scale = 0.5f;
  const Activation rounded{.step = 0.5f, .least = -3, .most = 252};
  EXPECT_TRUE(fixed.fits(rounded, false));
  EXPECT_FALSE(fixed.fits(rounded, true));  // what is rounded is the sum with the residual
  EXPECT_FALSE(fixed.fits({.step = 0.25f, .least = -3, .most = 252}, false));
  EXPECT_FALSE(fixed.fits({}, false));
  Activation of_sum = rounded;
  of_sum.sum_low = -3, of_sum.sum_high = 252, of_sum.sum_step = 0.5f;
  EXPECT_TRUE(fixed.fits(of_sum, true));
  Activation curved = rounded;
  curved.kind = ActivationKind::sigmoid;
  EXPECT_FALSE(fixed.fits(curved, false));
}

TEST(FixedPoint, KnowsWhichSumsOverflow) {
  const auto with = [](int32_t bias, double multiplier) {
    return FixedPoint{.w_scale = {1}, .bias = {bias}, .multipliers = {fixed_multiplier(multiplier)}};
  };
  EXPECT_TRUE(with(0, 0.9).fits_int32(33025));
  EXPECT_FALSE(with(0, 0.9).fits_int32(33026)) << "times 255 * 255 that is more than 2^31";
  EXPECT_FALSE(with(1 << 30, 0.9).fits_int32(20000));
  EXPECT_TRUE(with(0, 200.0).fits_int32(128)) << "shifted by 8";
  EXPECT_FALSE(with(0, 200.0).fits_int32(130));
  EXPECT_FALSE(with(0, 1e30).fits_int32(1));
}

}  // namespace
}  // namespace vellum::test
