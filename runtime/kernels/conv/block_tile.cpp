#include "kernels/conv/block_tile.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "cost/device_traits.hpp"
#include "kernels/framework/grid.hpp"
#include "program/divide.hpp"

namespace vellum {

int64_t BlockTile::shared_memory_bytes() const {
  constexpr int64_t kTexel = 16;
  const int64_t a = step() / 4 * kBlockPixels, b = step() * (kBlockSlices + 1),
                sums = invocations() * kSlices;
  return kTexel * (a + b + sums);
}

int64_t BlockTile::blocks(int64_t rows, int64_t columns) const {
  return divide_up(rows, kBlockPixels) * divide_up(columns, 4 * kBlockSlices);
}

namespace {

// Returns the largest split-K factor with which all workgroups run at once; a multiprocessor holds 1,024
// invocations. Of the factors two, four and eight it was the quickest or nearly so for 36 layers on an H200
// (docs/benchmarks/gpus.md).
int64_t parts_for(int64_t blocks, int64_t multiprocessors) {
  if (blocks <= multiprocessors) return 8;
  return blocks <= 2 * multiprocessors ? 4 : 2;
}

// Returns the microseconds of a step, which waits for its loads. `workgroups`: of each multiprocessor. A
// multiprocessor holds one workgroup with a split of eight at a time, and two with a split of four.
double step_us(int64_t parts, double workgroups) {
  if (parts == 8) return 1.5 * std::ceil(workgroups);
  if (parts == 2) return 0.6 + 0.16 * workgroups;
  const double whole = std::floor(workgroups / 2), rest = workgroups - 2 * whole;
  return 1.4 * whole + (rest > 1 ? 1.4 : rest > 0 ? 0.95 : 0);
}

// Returns the microseconds of a dispatch on an H200.
double measured_us(const BlockTile& tile, const MatrixProblem& problem, int64_t blocks,
                   int64_t multiprocessors) {
  constexpr double kLaunch = 4, kConversion = 6;
  const double workgroups = static_cast<double>(blocks) / static_cast<double>(multiprocessors);
  return kLaunch + (problem.inputs < 4 ? kConversion : 0) +
         static_cast<double>(problem.steps(tile.step())) * step_us(tile.parts, workgroups);
}

// Returns what the performance model would predict for a kernel that takes `us` on an H200, launch and
// barrier included. There, beyond these 4 us, kernels that it covers take 4.7 times the predicted time, and
// those with windows of several pixels 3.65 times (docs/benchmarks/gpus.md).
double as_predicted(double us, int64_t taps) {
  constexpr double kLaunch = 4;
  return kLaunch + (us - kLaunch) / (taps > 1 ? 3.65 : 4.7);
}

// Returns whether a product is large enough for blocks. Networks of smaller products took 5% longer with
// blocks.
bool is_large(const MatrixProblem& problem) {
  constexpr int64_t kLarge = 1 << 25;
  return problem.pixels * problem.summed() * problem.outputs >= kLarge;
}

}  // namespace

std::vector<ParameterCandidate<BlockTile>> block_tiles(const DeviceCaps& caps, const MatrixProblem& problem,
                                                       double us_cost) {
  std::vector<ParameterCandidate<BlockTile>> candidates;
  if (!device_traits(caps).blocks_in_shared_memory || problem.summed() < 16) return candidates;
  const auto all = static_cast<int64_t>(std::max(1.0, multiprocessors(caps)));
  for (const int64_t parts : {2, 4, 8}) {
    const BlockTile tile{parts};
    if (tile.shared_memory_bytes() > caps.max_shared_memory_bytes ||
        tile.invocations() > caps.max_workgroup_invocations)
      continue;
    const int64_t blocks = tile.blocks(problem.pixels, problem.outputs);
    const double us = as_predicted(measured_us(tile, problem, blocks, all), problem.taps);
    const bool preferred = is_large(problem) && us_cost > 0 && parts == parts_for(blocks, all);
    candidates.push_back(
        {{"block", std::to_string(parts) + " parts"}, preferred ? us * us_cost : kOnlyIfMeasured, tile});
  }
  return candidates;
}

void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const BlockTile& tile, int64_t blocks) {
  dispatch.workgroup_size = {static_cast<uint32_t>(tile.invocations()), 1, 1};
  dispatch.workgroup_count = workgroups_in_a_row(caps, blocks).workgroup_count;
  const std::pair<const char*, int64_t> numbers[] = {
      {"TILE_P", BlockTile::kPixels},      {"TILE_S", BlockTile::kSlices},
      {"INVOCATIONS_P", BlockTile::kSide}, {"PARTS", tile.parts},
      {"INVOCATIONS_S", BlockTile::kSide}, {"STEP_K", tile.step()}};
  for (const auto& [macro, number] : numbers) dispatch.defines.emplace_back(macro, std::to_string(number));
}

}  // namespace vellum
