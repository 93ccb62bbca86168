#include "support/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace vellum::test {

Distance distance_between(const HostTensor& got, const HostTensor& want) {
  const HostTensor wide_got = cast(got, DType::f64), wide_want = cast(want, DType::f64);
  const auto a = wide_got.as<double>(), b = wide_want.as<double>();
  Distance result;
  for (size_t i = 0; i < b.size(); ++i) {
    if (a[i] == b[i]) continue;
    const double element = std::fabs(a[i] - b[i]) / std::max(1.0, std::fabs(b[i]));
    if (!std::isfinite(element)) return {HUGE_VAL, HUGE_VAL};
    result.largest = std::max(result.largest, element);
    result.root_mean_square += element * element / static_cast<double>(b.size());
  }
  result.root_mean_square = std::sqrt(result.root_mean_square);
  return result;
}

}  // namespace vellum::test
