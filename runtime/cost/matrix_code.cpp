#include "cost/matrix_code.hpp"

#include <algorithm>

namespace vellum {

double byte_matrix_efficiency(const DeviceTraits& traits, const MatrixBlock& block) {
  const auto rows = static_cast<double>(block.rows()), columns = static_cast<double>(block.columns());
  const auto matrices = static_cast<double>(block.matrices), m = static_cast<double>(block.m),
             n = static_cast<double>(block.n);
  constexpr double kLoad = 16, kWord = 4;  // bytes
  // Bytes for each multiply-accumulate: from memory to shared memory in words, and from there to matrices.
  const double moved = (rows + columns) / (rows * columns), read = (m + n) / (m * n * matrices);
  const double loads = (2 * moved + read) / kLoad;
  return 1 / std::max(1 / traits.byte_matrix_macs + traits.load_slots * moved / kWord,
                      traits.macs_per_load * loads);
}

double byte_matrix_waits(const MatrixBlock& block, double steps) {
  return kStepsAround + (block.parts > 1 ? kStepsToReduce : 0) + steps;
}

double byte_matrices_us(const DeviceRates& rates, const DeviceTraits& traits, const MatrixBlock& block,
                        const MatrixWork& work) {
  const double of_block = static_cast<double>(block.rows() * block.columns() * work.step);
  return dispatch_time(rates,
                       {.macs = work.blocks * work.steps * of_block,
                        .subgroups = work.blocks * static_cast<double>(block.side * block.side * block.parts),
                        .subgroup_size = work.lanes,
                        .steps = byte_matrix_waits(block, work.steps)})
      .total_us(byte_matrix_efficiency(traits, block));
}

}  // namespace vellum
