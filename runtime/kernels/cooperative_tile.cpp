#include "kernels/cooperative_tile.hpp"

#include <algorithm>
#include <optional>

#include "kernels/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kStep = 32;

// What the shader can take apart into eight halves and four floats, of a size that fills no more than a
// subgroup's registers.
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

int64_t CooperativeTile::step() const { return std::max<int64_t>(kStep, matrix.k); }

int64_t CooperativeTile::shared_memory_bytes() const {
  const int64_t a = pixels() * (step() / 8 + 1), b = step() * (channels() / 8 + 1);  // uvec4 each
  const int64_t c = kSubgroups * kSubgroups * (int64_t{matrix.m} * matrix.n / 4);    // vec4
  return 16 * (a + b + c);
}

std::string CooperativeTile::name() const {
  return "cooperative " + std::to_string(pixels()) + "x" + std::to_string(channels());
}

std::vector<CooperativeTile> cooperative_tiles(const DeviceCaps& caps, int64_t pixels, int64_t inputs,
                                               int64_t outputs) {
  // CPU drivers compute matrices element by element: on lavapipe of Mesa 26.1 that takes 12 to 34 times as
  // long as other kernels.
  if (caps.type == DeviceType::cpu) return {};
  const std::optional<CooperativeMatrix> matrix = choose_matrix(caps);
  if (!matrix || !caps.full_subgroups || inputs < matrix->k || outputs < 8) return {};
  std::vector<CooperativeTile> tiles;
  for (const int64_t matrices : {4, 2, 1})
    if (const CooperativeTile tile{*matrix, matrices}; fits(tile, caps)) tiles.push_back(tile);
  // The largest loads the least, if there are enough workgroups for all of a large GPU.
  constexpr int64_t kEnough = 128;
  const auto best = std::find_if(tiles.begin(), tiles.end(), [&](const CooperativeTile& tile) {
    return divide_up(pixels, tile.pixels()) * divide_up(outputs, tile.channels()) >= kEnough;
  });
  if (!tiles.empty()) std::rotate(tiles.begin(), best == tiles.end() ? best - 1 : best, tiles.end());
  return tiles;
}

bool prefers_cooperative(int64_t pixels, int64_t inputs) {
  constexpr int64_t kFew = 16, kTiny = 1 << 12;
  return pixels >= kFew && pixels * inputs >= kTiny;
}

}  // namespace vellum
