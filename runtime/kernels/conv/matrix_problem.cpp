#include "kernels/conv/matrix_problem.hpp"

#include <algorithm>

#include "cost/device_rates.hpp"
#include "program/divide.hpp"

namespace vellum {

bool MatrixProblem::mixes_taps(int64_t step) const {
  return taps > 1 && inputs < step && taps * slices(inputs) < kMostTaps;
}

int64_t MatrixProblem::steps(int64_t step) const {
  return mixes_taps(step) ? divide_up(4 * taps * slices(inputs), step) : taps * divide_up(inputs, step);
}

double multiprocessors(const DeviceCaps& caps) {
  constexpr double kUnits = 4;
  return std::max(1u, device_rates(caps).units) / kUnits;
}

}  // namespace vellum
