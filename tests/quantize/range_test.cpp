// Ranges of tensors and the parameters that follow from them.
#include "quantize/range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace vellum::quantization {
namespace {

Histogram histogram_of(const std::vector<float>& values) {
  Range range;
  range.include(values);
  Histogram histogram{range.low, range.high, std::vector<uint64_t>(2048, 0)};
  histogram.add(values);
  return histogram;
}

// A bell around 0 of deviation 1, and one value far outside.
std::vector<float> bell_with_outlier(float outlier) {
  std::mt19937 generator(1);
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i) {
    float sum = -6.0f;
    for (int k = 0; k < 12; ++k) sum += static_cast<float>(generator() >> 8) * 0x1p-24f;
    values.push_back(sum);
  }
  values.push_back(outlier);
  return values;
}

TEST(QuantizeRange, ParametersRepresentZeroExactly) {
  EXPECT_EQ(parameters_of({-1.0f, 1.55f}, false), (Parameters{2.55f / 255, 100}));
  EXPECT_EQ(parameters_of({-1.0f, 1.55f}, true), (Parameters{2.55f / 255, -28}));
  EXPECT_EQ(parameters_of({1.0f, 5.1f}, false), (Parameters{5.1f / 255, 0}));
  EXPECT_EQ(parameters_of({-5.1f, -1.0f}, false), (Parameters{5.1f / 255, 255}));
  EXPECT_EQ(parameters_of({0.0f, 0.0f}, false), (Parameters{1.0f, 0}));
}

TEST(QuantizeRange, NumbersThatAreNoneAreLeftOut) {
  Range range;
  range.include(std::vector<float>{1, std::numeric_limits<float>::infinity(), std::nanf(""), -2});
  EXPECT_EQ(range, (Range{-2, 1}));
}

TEST(QuantizeRange, PercentileCutsBothEnds) {
  std::vector<float> values;
  for (int i = -1000; i <= 1000; ++i) values.push_back(static_cast<float>(i));
  const Range range = chosen_range(histogram_of(values), QuantizeRanges::percentile, 90.0);
  EXPECT_NEAR(range.low, -900, 2);
  EXPECT_NEAR(range.high, 900, 2);
  EXPECT_EQ(chosen_range(histogram_of(values), QuantizeRanges::minmax, 90.0), (Range{-1000, 1000}));
}

TEST(QuantizeRange, AnOutlierDoesNotCostAllOthersTheirPrecision) {
  const Histogram histogram = histogram_of(bell_with_outlier(40.0f));
  for (const QuantizeRanges method : {QuantizeRanges::percentile, QuantizeRanges::entropy}) {
    const Range range = chosen_range(histogram, method, 99.9);
    EXPECT_LT(range.high, 20.0f) << static_cast<int>(method);
    EXPECT_GT(range.high, 2.0f) << static_cast<int>(method);
    EXPECT_LT(range.low, -2.0f) << static_cast<int>(method);
  }
}

// No other pair of ends has a smaller error.
TEST(QuantizeRange, MseIsLessThanThatOfOtherRanges) {
  const Histogram histogram = histogram_of(bell_with_outlier(9.0f));
  const Range best = chosen_range(histogram, QuantizeRanges::mse, 99.99);
  const double least = squared_error(histogram, best);
  for (const float low : {histogram.low, 0.7f * histogram.low, 0.3f * histogram.low})
    for (const float high : {histogram.high, 0.6f * histogram.high, 0.2f * histogram.high})
      EXPECT_LE(least, squared_error(histogram, {low, high}) * 1.02) << low << " " << high;
}

TEST(QuantizeRange, EqualValuesHaveARange) {
  const Histogram histogram = histogram_of({0, 0, 0});
  for (const QuantizeRanges method :
       {QuantizeRanges::minmax, QuantizeRanges::percentile, QuantizeRanges::mse, QuantizeRanges::entropy})
    EXPECT_EQ(chosen_range(histogram, method, 99.0), (Range{0, 0}));
}

}  // namespace
}  // namespace vellum::quantization
