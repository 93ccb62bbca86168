#include "quantize/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace vellum::quantization {
namespace {

constexpr double kSteps = 255.0;

uint64_t total(const Histogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), uint64_t{0});
}

// Cuts off the values beyond the percentile, half of them at each end.
Range percentile_range(const Histogram& histogram, double percentile) {
  const double outside = static_cast<double>(total(histogram)) * (100.0 - percentile) / 200.0;
  const auto edge = [&](auto begin, auto end) {
    double passed = 0;
    size_t bins = 0;
    for (auto count = begin; count != end; ++count, ++bins) {
      passed += static_cast<double>(*count);
      if (passed > outside) break;
    }
    return static_cast<double>(bins) * histogram.width();
  };
  return {static_cast<float>(histogram.low + edge(histogram.counts.begin(), histogram.counts.end())),
          static_cast<float>(histogram.high - edge(histogram.counts.rbegin(), histogram.counts.rend()))};
}

// Calls `cost` for ranges that shrink in steps, each end on its own, and returns the cheapest. Ends at zero
// stay.
template <typename Cost>
Range cheapest(const Histogram& histogram, const Cost& cost) {
  constexpr int kTried = 60;
  const auto shrunk = [](float end, int step) {
    return end * (1.0f - static_cast<float>(step) / (kTried + 4));
  };
  Range best{std::min(histogram.low, 0.0f), std::max(histogram.high, 0.0f)};
  const Range whole = best;
  double least = cost(best);
  const auto attempt = [&](const Range& range) {
    const double value = cost(range);
    if (value >= least) return;
    least = value;
    best = range;
  };
  for (int step = 1; step < kTried; ++step) attempt({shrunk(whole.low, step), shrunk(whole.high, step)});
  const Range both = best;
  for (int step = 0; step < kTried; ++step) {
    attempt({both.low, shrunk(whole.high, step)});
    attempt({shrunk(whole.low, step), both.high});
  }
  return best;
}

// The divergence of what 8 bits of `range` keep from the distribution, as in Migacz, "8-bit inference with
// TensorRT", 2017: values of one step become equally frequent, values outside are counted at the ends.
double divergence(const Histogram& histogram, const Range& range) {
  const double step = (static_cast<double>(range.high) - range.low) / kSteps;
  if (!(step > 0)) return std::numeric_limits<double>::infinity();
  const size_t bins = histogram.counts.size();
  std::vector<double> clipped(bins, 0.0);
  std::vector<size_t> step_of(bins);
  for (size_t i = 0; i < bins; ++i) {
    const double value =
        std::clamp(histogram.centre(i), static_cast<double>(range.low), static_cast<double>(range.high));
    const auto at = static_cast<size_t>(
        std::clamp((value - histogram.low) / histogram.width(), 0.0, static_cast<double>(bins - 1)));
    clipped[at] += static_cast<double>(histogram.counts[i]);
    step_of[i] = static_cast<size_t>(std::clamp(std::round((value - range.low) / step), 0.0, kSteps));
  }
  std::vector<double> sum(256, 0.0), used(256, 0.0);
  for (size_t i = 0; i < bins; ++i)
    if (histogram.counts[i] > 0 && histogram.centre(i) >= static_cast<double>(range.low) &&
        histogram.centre(i) <= static_cast<double>(range.high)) {
      sum[step_of[i]] += static_cast<double>(histogram.counts[i]);
      used[step_of[i]] += 1;
    }
  const auto all = static_cast<double>(total(histogram));
  double result = 0;
  for (size_t i = 0; i < bins; ++i) {
    if (clipped[i] == 0) continue;
    const double kept = used[step_of[i]] > 0 ? sum[step_of[i]] / used[step_of[i]] : 0;
    constexpr double kLeast = 1.0;  // a step without values is as if it had one
    result += clipped[i] / all * std::log(clipped[i] / std::max(kept, kLeast));
  }
  return result;
}

}  // namespace

void Histogram::add(std::span<const float> values) {
  const double bins = static_cast<double>(counts.size());
  const double factor = high > low ? bins / (static_cast<double>(high) - low) : 0.0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    counts[static_cast<size_t>(std::clamp((static_cast<double>(value) - low) * factor, 0.0, bins - 1))] += 1;
  }
}

void Range::include(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
}

Parameters parameters_of(Range range, bool is_signed) {
  const double low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
  const auto scale = static_cast<float>((high - low) / kSteps);
  if (!(scale >= std::numeric_limits<float>::min())) return {};
  const auto zero =
      static_cast<int64_t>(std::nearbyint(std::clamp(-low / static_cast<double>(scale), 0.0, kSteps)));
  return {scale, is_signed ? zero - 128 : zero};
}

double squared_error(const Histogram& histogram, const Range& range) {
  const double step = (static_cast<double>(range.high) - range.low) / kSteps;
  double sum = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] == 0) continue;
    const double value = histogram.centre(i);
    const double outside = std::max({0.0, range.low - value, value - range.high});
    // Inside, errors are spread evenly over a step.
    sum += static_cast<double>(histogram.counts[i]) * (outside > 0 ? outside * outside : step * step / 12);
  }
  return sum / static_cast<double>(std::max<uint64_t>(total(histogram), 1));
}

Range chosen_range(const Histogram& histogram, QuantizeRanges method, double percentile) {
  const Range whole{histogram.low, histogram.high};
  if (!(histogram.high > histogram.low) || total(histogram) == 0) return whole;
  switch (method) {
    case QuantizeRanges::minmax:
      return whole;
    case QuantizeRanges::percentile:
      return percentile_range(histogram, percentile);
    case QuantizeRanges::entropy:
      return cheapest(histogram, [&](const Range& range) { return divergence(histogram, range); });
    case QuantizeRanges::mse:
      return cheapest(histogram, [&](const Range& range) { return squared_error(histogram, range); });
  }
  return whole;
}

}  // namespace vellum::quantization
