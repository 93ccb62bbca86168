#include "kernels/conv/cooperative_tile.hpp"

#include <algorithm>
#include <optional>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "kernels/framework/grid.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kStep = 32;

// Whether the shader can divide it into eight halves and four floats for each invocation, and it fills no
// more than a subgroup's registers.
bool is_usable(const CooperativeMatrix& matrix) {
  const bool whole_steps = kStep % matrix.k == 0 || matrix.k % kStep == 0;
  return matrix.n % 8 == 0 && matrix.k % 8 == 0 && whole_steps && matrix.m <= 64 && matrix.n <= 64 &&
         matrix.k <= 128;
}

// 16 x 16 x 16 where it is there: it loads the least for what it multiplies, and all desktop GPUs have it.
// Else the one that does the most at once.
std::optional<CooperativeMatrix> choose_matrix(const DeviceCaps& caps) {
  std::optional<CooperativeMatrix> best;
  const auto rank = [](const CooperativeMatrix& x) {
    return x.m == 16 && x.n == 16 && x.k == 16 ? UINT64_MAX : uint64_t{x.m} * x.n * x.k;
  };
  for (const CooperativeMatrix& matrix : half_products(caps))
    if (is_usable(matrix) && (!best || rank(matrix) > rank(*best))) best = matrix;
  return best;
}

bool fits(const CooperativeTile& tile, const DeviceCaps& caps) {
  const uint64_t invocations =
      uint64_t{caps.subgroup_size} * CooperativeTile::kSubgroups * CooperativeTile::kSubgroups;
  return invocations <= caps.max_workgroup_invocations && invocations <= caps.max_workgroup_size[0] &&
         static_cast<uint64_t>(tile.shared_memory_bytes()) <= caps.max_shared_memory_bytes;
}

}  // namespace

int64_t CooperativeTile::blocks(int64_t rows, int64_t columns) const {
  return divide_up(rows, pixels()) * divide_up(columns, channels());
}

int64_t CooperativeTile::step() const { return std::max<int64_t>(kStep, matrix.k); }

int64_t CooperativeTile::shared_memory_bytes() const {
  // uvec4 each, with one behind every row; rows are the operand's or its columns.
  const int64_t a = pixels() * step() / 8 + std::max(pixels(), step());
  const int64_t b = step() * channels() / 8 + std::max(channels(), step());
  const int64_t c = kSubgroups * kSubgroups * (int64_t{matrix.m} * matrix.n / 4);  // vec4
  return 16 * (a + b + c);
}

namespace {

// Whether a workgroup has few steps, which follow one another: other kernels share long sums among more
// workgroups. Sums over many rows without a window are those of transformers, which have many columns, too.
// Measured on an H200, where a step takes half a microsecond.
bool has_few_steps(const CooperativeProblem& problem) {
  constexpr int64_t kFewSteps = 24, kManyRows = 128, kStepsOfManyRows = 128;
  const int64_t steps = problem.taps * divide_up(problem.inputs, kStep);
  const bool has_many_rows = problem.taps == 1 && problem.pixels >= kManyRows;
  return steps <= (has_many_rows ? kStepsOfManyRows : kFewSteps);
}

// Cooperative matrices are quicker than other kernels where enough is summed up for each output channel, in
// few steps or by workgroups that fill the device. The number of output channels has no say, so that the
// parts of a layer that is split are computed as the whole would be.
double relative_cost_of(const CooperativeProblem& problem, const DeviceCaps& caps) {
  constexpr int64_t kFew = 16, kTiny = 1 << 12, kPixelsOfUnit = 16;
  const bool fills = problem.pixels >= kPixelsOfUnit * device_rates(caps).units;
  const bool preferred = problem.pixels >= kFew && problem.pixels * problem.inputs * problem.taps >= kTiny &&
                         (fills || has_few_steps(problem));
  return preferred ? 0.25 : kOnlyIfMeasured;
}

}  // namespace

std::vector<ParameterCandidate<CooperativeTile>> cooperative_tiles(const DeviceCaps& caps,
                                                                   const CooperativeProblem& problem) {
  if (problem.precision != Precision::fp16) return {};
  if (!device_traits(caps).cooperative_matrices) return {};
  const std::optional<CooperativeMatrix> matrix = choose_matrix(caps);
  if (!matrix || !caps.full_subgroups || problem.inputs < matrix->k || problem.outputs < 8) return {};
  std::vector<CooperativeTile> tiles;
  for (const int64_t matrices : {4, 2, 1})
    if (const CooperativeTile tile{*matrix, matrices}; fits(tile, caps)) tiles.push_back(tile);
  // The largest loads the least, if there are enough workgroups for all of a large GPU.
  constexpr int64_t kEnough = 128;
  const auto enough = std::find_if(tiles.begin(), tiles.end(), [&](const CooperativeTile& tile) {
    return problem.products * tile.blocks(problem.pixels, problem.outputs) >= kEnough;
  });
  const auto best = enough == tiles.end() && !tiles.empty() ? enough - 1 : enough;
  std::vector<ParameterCandidate<CooperativeTile>> candidates;
  candidates.reserve(tiles.size());
  for (const CooperativeTile& tile : tiles)
    candidates.push_back(
        {{kCooperativeAlgorithm, std::to_string(tile.pixels()) + "x" + std::to_string(tile.channels())},
         relative_cost_of(problem, caps) * (tile.matrices == best->matrices ? 1 : 1.1),
         tile});
  return candidates;
}

void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t blocks) {
  constexpr uint32_t kSubgroups = CooperativeTile::kSubgroups * CooperativeTile::kSubgroups;
  dispatch.subgroup_size = caps.subgroup_size;
  dispatch.workgroup_size = {caps.subgroup_size * kSubgroups, 1, 1};
  dispatch.workgroup_count = workgroups_in_a_row(caps, blocks).workgroup_count;
  const CooperativeMatrix& matrix = tile.matrix;
  const std::pair<const char*, int64_t> numbers[] = {
      {"MATRIX_M", matrix.m},    {"MATRIX_N", matrix.n},
      {"MATRIX_K", matrix.k},    {"TILE_M", tile.matrices},
      {"TILE_N", tile.matrices}, {"SUBGROUPS_M", CooperativeTile::kSubgroups},
      {"STEP_K", tile.step()},   {"SUBGROUPS_N", CooperativeTile::kSubgroups},
  };
  for (const auto& [macro, number] : numbers) dispatch.defines.emplace_back(macro, std::to_string(number));
  if (matrix.extension == MatrixExtension::nv) dispatch.defines.emplace_back("MATRIX_NV", "1");
}

}  // namespace vellum
