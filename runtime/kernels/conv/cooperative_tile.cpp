#include "kernels/conv/cooperative_tile.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "kernels/framework/grid.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kStepBytes = 64;  // of a row of an operand

int64_t factor_bytes(const CooperativeMatrix& matrix) { return multiplies_bytes(matrix) ? 1 : 2; }
int64_t least_step(const CooperativeMatrix& matrix) { return kStepBytes / factor_bytes(matrix); }

// Returns whether the shader can use the matrix: it loads eight or sixteen factors and stores four sums in an
// invocation at a time, and the matrix must fit in the registers of a subgroup.
bool is_usable(const CooperativeMatrix& matrix) {
  const int64_t step = least_step(matrix);
  const bool whole_steps = step % matrix.k == 0 || matrix.k % step == 0;
  return matrix.n % (multiplies_bytes(matrix) ? 4 : 8) == 0 && matrix.k % 8 == 0 && whole_steps &&
         matrix.m <= 64 && matrix.n <= 64 && matrix.k <= 4 * step;
}

}  // namespace

// 16 x 16 needs the fewest loads for its products, and all desktop GPUs have it. Otherwise the matrix with
// the most products.
std::optional<CooperativeMatrix> matrix_for_tiles(const DeviceCaps& caps, MatrixFactors factors) {
  std::optional<CooperativeMatrix> best;
  const auto rank = [](const CooperativeMatrix& x) {
    const bool is_common = x.m == 16 && x.n == 16 && (x.k == 16 || (multiplies_bytes(x) && x.k == 32));
    return is_common ? UINT64_MAX : uint64_t{x.m} * x.n * x.k;
  };
  for (const CooperativeMatrix& matrix : products_of(caps, factors))
    if (is_usable(matrix) && (!best || rank(matrix) > rank(*best))) best = matrix;
  return best;
}

bool fits(const CooperativeTile& tile, const DeviceCaps& caps) {
  const uint64_t invocations = static_cast<uint64_t>(caps.subgroup_size * tile.subgroups());
  return invocations <= caps.max_workgroup_invocations && invocations <= caps.max_workgroup_size[0] &&
         static_cast<uint64_t>(tile.shared_memory_bytes()) <= caps.max_shared_memory_bytes;
}

int64_t CooperativeTile::blocks(int64_t rows, int64_t columns) const {
  return divide_up(rows, pixels()) * divide_up(columns, channels());
}

int64_t CooperativeTile::step() const { return parts * std::max<int64_t>(least_step(matrix), matrix.k); }

// Every row is followed by an unused vector.
int64_t CooperativeTile::shared_memory_bytes() const {
  const int64_t sums = 4 * subgroups() * int64_t{matrix.m} * matrix.n;
  if (multiplies_bytes()) {
    const int64_t vector = matrix.k % 16 == 0 ? 16 : 8;
    return (pixels() + channels()) * (step() + vector) + sums;
  }
  // In units of uvec4. The rows may be columns of the operand.
  const int64_t a = pixels() * step() / 8 + std::max(pixels(), step());
  const int64_t b = step() * channels() / 8 + std::max(channels(), step());
  return 16 * (a + b) + sums;
}

KernelName CooperativeTile::name() const {
  std::string block = std::to_string(pixels()) + "x" + std::to_string(channels());
  if (parts > 1) block += " by " + std::to_string(subgroups());
  return {multiplies_bytes() ? kByteMatrixAlgorithm : kCooperativeAlgorithm, block};
}

namespace {

// Returns the cost of cooperative matrices relative to other kernels. They are quicker if each output sums
// enough terms, and if either there are few steps, which follow one another, or the workgroups fill the
// device. The number of output channels does not matter, so that all parts of a layer that is split along
// them use the same algorithm. (Their tiles, and with them the order of sums, may differ.) Measured on an
// H200.
double relative_cost_of(const MatrixProblem& problem, const DeviceCaps& caps) {
  constexpr int64_t kFew = 16, kTiny = 1 << 12, kPixelsOfUnit = 16, kLongestSum = 3072;
  const bool fills = problem.pixels >= kPixelsOfUnit * device_rates(caps).units;
  const int64_t summed = problem.summed();
  // An input with fewer than four channels is converted to texels first.
  constexpr int64_t kWorthAConversion = 128;
  const bool pays = problem.pixels * summed >= kTiny && (problem.inputs >= 4 || summed >= kWorthAConversion);
  const bool preferred = problem.pixels >= kFew && pays && (fills || summed <= kLongestSum);
  return preferred ? 0.25 : kOnlyIfMeasured;
}

// A tile with the microseconds of a step: of a workgroup that is alone on a multiprocessor (step_us), and in
// addition for each further workgroup there (more_us).
struct TimedTile {
  int64_t matrices, side, parts;
  double step_us, more_us;
};

// Small blocks make many workgroups, large blocks need few loads, and split-K is for long sums in few
// workgroups. The times were measured for 36 layers on an H200 (docs/benchmarks/gpus.md).
constexpr TimedTile kTiles[] = {
    {1, 2, 1, 0.72, 0.045}, {2, 2, 2, 1.12, 0.15}, {1, 2, 4, 1.0, 0.5}, {2, 1, 4, 1.1, 0.4}};

double predicted_us(const TimedTile& timed, const CooperativeTile& tile, const MatrixProblem& problem,
                    const DeviceCaps& caps) {
  const auto blocks = static_cast<double>(problem.products * tile.blocks(problem.pixels, problem.outputs));
  const double together = blocks / multiprocessors(caps);
  return static_cast<double>(problem.steps(tile.step())) * (timed.step_us + timed.more_us * together);
}

}  // namespace

std::vector<ParameterCandidate<CooperativeTile>> cooperative_tiles(const DeviceCaps& caps,
                                                                   const MatrixProblem& problem) {
  if (problem.precision != Precision::fp16) return {};
  if (!device_traits(caps).cooperative_matrices) return {};
  const std::optional<CooperativeMatrix> matrix = matrix_for_tiles(caps, MatrixFactors::halves);
  if (!matrix || !caps.full_subgroups || problem.summed() < matrix->k || problem.outputs < 8) return {};
  std::vector<ParameterCandidate<CooperativeTile>> candidates;
  std::vector<double> us;
  for (const TimedTile& timed : kTiles) {
    const CooperativeTile tile{*matrix, timed.matrices, timed.side, timed.parts};
    if (!fits(tile, caps)) continue;
    us.push_back(predicted_us(timed, tile, problem, caps));
    candidates.push_back({tile.name(), relative_cost_of(problem, caps), tile});
  }
  const double least = us.empty() ? 0 : *std::ranges::min_element(us);
  for (size_t i = 0; i < us.size(); ++i) candidates[i].predicted_cost *= us[i] / least;
  return candidates;
}

void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t blocks) {
  dispatch.subgroup_size = caps.subgroup_size;
  dispatch.workgroup_size = {static_cast<uint32_t>(caps.subgroup_size * tile.subgroups()), 1, 1};
  dispatch.workgroup_count = workgroups_in_a_row(caps, blocks).workgroup_count;
  const CooperativeMatrix& matrix = tile.matrix;
  const std::pair<const char*, int64_t> numbers[] = {
      {"MATRIX_M", matrix.m},    {"MATRIX_N", matrix.n},    {"MATRIX_K", matrix.k},
      {"TILE_M", tile.matrices}, {"TILE_N", tile.matrices}, {"SUBGROUPS_M", tile.side},
      {"PARTS", tile.parts},     {"STEP_K", tile.step()},   {"SUBGROUPS_N", tile.side},
  };
  for (const auto& [macro, number] : numbers) dispatch.defines.emplace_back(macro, std::to_string(number));
  if (matrix.extension == MatrixExtension::nv) dispatch.defines.emplace_back("MATRIX_NV", "1");
}

}  // namespace vellum
