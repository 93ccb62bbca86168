#include "kernels/conv/byte_matrices.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/matrix_code.hpp"
#include "cost/tiles.hpp"
#include "kernels/conv/dot_products.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

// Small blocks make many workgroups, large blocks need few loads, and split-K is for long sums in few
// workgroups.
constexpr MatrixBlock kBlocks[] = {{.matrices = 1, .side = 2},
                                   {.matrices = 2, .side = 2},
                                   {.matrices = 2, .side = 2, .parts = 2},
                                   {.matrices = 1, .side = 2, .parts = 4},
                                   {.matrices = 2, .side = 1, .parts = 4}};

// Returns the cost of a predicted microsecond among other kernels. It is higher where the device multiplies
// bytes faster by dot products than their predicted times, which are those of floats, say. `us_cost`: its
// cost among those, or 0 if it is unknown; the quickest tile without split-K has the cost 1.
double cost_of_microsecond(const DeviceCaps& caps, const MatrixProblem& problem, double us_cost) {
  TileDemand demand{.length = problem.pixels,
                    .slices = slices(problem.outputs),
                    .macs = problem.pixels * problem.summed() * problem.outputs,
                    .loads_ahead = problem.taps == 1,
                    .row_pixels = problem.row_pixels};
  const auto quickest_us = [&](int64_t split) { return quick_tiles(caps, demand, split).front().us; };
  if (us_cost == 0) {
    const double us = quickest_us(1);
    us_cost = us > 0 ? 1 / us : 0;
  }
  if (!accelerates_dot_products(caps)) return us_cost;
  const double floats = quickest_us(slices(problem.inputs));
  demand.multiplies_dots = true;
  const double dots = quickest_us(slices(problem.inputs));
  return dots > 0 ? us_cost * std::max(1.0, floats / dots) : us_cost;
}

double predicted_us(const CooperativeTile& tile, const MatrixBlock& block, const MatrixProblem& problem,
                    const DeviceCaps& caps) {
  const auto blocks = static_cast<double>(tile.blocks(problem.pixels, problem.outputs));
  const auto steps = static_cast<double>(problem.steps(tile.step()));
  return byte_matrices_us(
      device_rates(caps), device_traits(caps), block,
      {.blocks = blocks, .steps = steps, .step = tile.step(), .lanes = caps.subgroup_size});
}

}  // namespace

bool has_byte_matrices(const DeviceCaps& caps) {
  return device_traits(caps).cooperative_matrices && caps.full_subgroups &&
         matrix_for_tiles(caps, MatrixFactors::bytes).has_value();
}

bool can_multiply_matrices(const Lowering& lowering, const ByteWeightsPointer& bytes, int64_t products) {
  return has_byte_matrices(lowering.caps()) && can_multiply_bytes(lowering, bytes, products);
}

ByteWeightsPointer for_byte_matrices(const ByteWeightsPointer& bytes) {
  ByteWeights found = *bytes;
  found.dot_products = DotProducts::signed_bytes;
  return std::make_shared<const ByteWeights>(std::move(found));
}

std::vector<ParameterCandidate<CooperativeTile>> byte_matrix_tiles(const DeviceCaps& caps,
                                                                   const MatrixProblem& problem,
                                                                   double us_cost) {
  if (!problem.multiplies_bytes || problem.outputs < 8) return {};
  const std::optional<CooperativeMatrix> matrix = matrix_for_tiles(caps, MatrixFactors::bytes);
  if (!matrix || problem.summed() < matrix->k) return {};
  const double cost = cost_of_microsecond(caps, problem, us_cost);
  std::vector<ParameterCandidate<CooperativeTile>> candidates;
  for (MatrixBlock block : kBlocks) {
    const CooperativeTile tile{*matrix, block.matrices, block.side, block.parts};
    if (!fits(tile, caps)) continue;
    block.m = matrix->m, block.n = matrix->n, block.k = matrix->k;
    const double us = predicted_us(tile, block, problem, caps);
    candidates.push_back({tile.name(), cost > 0 ? us * cost : kOnlyIfMeasured, tile});
  }
  return candidates;
}

}  // namespace vellum
