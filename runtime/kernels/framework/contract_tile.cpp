#include "kernels/framework/contract_tile.hpp"

#include <algorithm>
#include <optional>

#include "graph/operator_support.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/contract_tile.h"

namespace vellum {

namespace {

constexpr size_t kMostLoops = decltype(ContractTileParameters::dims)::size();
constexpr int64_t kColumns = 4, kRows = 4;
constexpr int64_t kMostSummed = 16384;  // products of an invocation in one dispatch

// Returns the longest loop of y in which operand `still` does not advance and the other operand does.
std::optional<size_t> longest_loop(const LoopNest& kept, size_t still) {
  std::optional<size_t> found;
  for (size_t d = 0; d < kept.dims.size(); ++d)
    if (kept.strides[still][d] == 0 && kept.strides[1 - still][d] != 0 &&
        (!found || kept.dims[d] >= kept.dims[*found]))
      found = d;
  return found;
}

// The loops of y, two of which are the columns and rows of tiles.
struct Tile {
  TensorId a = kNoTensor, b = kNoTensor;
  LoopNest kept, summed;
  size_t columns = 0, rows = 0;  // loops of `kept`
  int64_t row_count = kRows;
};

void swap_operands(Tile& tile) {
  std::swap(tile.a, tile.b);
  for (LoopNest* nest : {&tile.kept, &tile.summed}) std::swap(nest->strides[0], nest->strides[1]);
}

size_t add_loop_of_one(LoopNest& nest) {
  nest.dims.push_back(1);
  for (auto& strides : nest.strides) strides.push_back(0);
  return nest.dims.size() - 1;
}

// Returns the tile. A vector times a matrix has no rows. A dot product has no columns either; it wastes most
// of the tile, which pays only for sums that are too long for contract.comp.
std::optional<Tile> find_tile(TensorId a, TensorId b, const Contraction& c) {
  Tile tile{a, b, collapse(c.kept), collapse(c.summed)};
  std::optional<size_t> columns = longest_loop(tile.kept, 0), rows = longest_loop(tile.kept, 1);
  if (!columns && rows) {
    swap_operands(tile);
    std::swap(columns, rows);
  }
  if (!columns && element_count(tile.summed.dims) <= kMostSummed) return std::nullopt;
  tile.columns = columns ? *columns : add_loop_of_one(tile.kept);
  if (!rows) tile.row_count = 1;
  tile.rows = rows ? *rows : add_loop_of_one(tile.kept);
  if (tile.kept.dims.size() + tile.summed.dims.size() > kMostLoops) return std::nullopt;
  // The longest summed loop becomes the innermost, which needs no division.
  const auto longest = std::ranges::max_element(tile.summed.dims) - tile.summed.dims.begin();
  for (auto* list : {&tile.summed.dims, &tile.summed.strides[0], &tile.summed.strides[1]})
    std::rotate(list->begin() + longest, list->begin() + longest + 1, list->end());
  return tile;
}

struct Part {
  LoopNest summed;
  int64_t a_first = 0, b_first = 0;
};

// Splits the summed loops into parts of at most kMostSummed terms, the outermost loop first.
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are loops
void divide_sum(LoopNest summed, int64_t a_first, int64_t b_first, std::vector<Part>& parts) {
  const int64_t inner = element_count(summed.dims) / summed.dims[0];
  const int64_t a_step = summed.strides[0][0], b_step = summed.strides[1][0], count = summed.dims[0];
  if (inner <= kMostSummed) {
    const int64_t turns = std::max<int64_t>(1, kMostSummed / inner);
    for (int64_t first = 0; first < count; first += turns) {
      summed.dims[0] = std::min(turns, count - first);
      parts.push_back({summed, a_first + first * a_step, b_first + first * b_step});
    }
    return;
  }
  const LoopNest rest{Shape(summed.dims.begin() + 1, summed.dims.end()),
                      {{summed.strides[0].begin() + 1, summed.strides[0].end()},
                       {summed.strides[1].begin() + 1, summed.strides[1].end()}}};
  for (int64_t i = 0; i < count; ++i) divide_sum(rest, a_first + i * a_step, b_first + i * b_step, parts);
}

// Returns the iterations of an invocation. For each run of the innermost loop, a loop over the dimensions
// computes the offsets.
uint64_t iterations_of(const Shape& summed) {
  const int64_t inner = summed.back(), outer = element_count(summed) / std::max<int64_t>(inner, 1);
  const uint64_t offsets = loop_iterations(static_cast<int64_t>(summed.size()));
  return kShortLoops + loop_iterations(outer, offsets + loop_iterations(inner));
}

}  // namespace

bool contract_by_tiles(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c) {
  if (lowering.tensor(y).desc.element != ElementType::i32) return false;
  const std::optional<Tile> tile = find_tile(a, b, c);
  if (!tile) return false;
  const LoopNest& kept = tile->kept;
  int64_t tiles = 1;
  for (size_t d = 0; d < kept.dims.size(); ++d)
    tiles *= divide_up(kept.dims[d], d == tile->columns ? kColumns : d == tile->rows ? tile->row_count : 1);

  std::vector<Part> parts;
  divide_sum(tile->summed, 0, 0, parts);
  TensorId sums = kNoTensor;
  for (size_t i = 0; i < parts.size(); ++i) {
    LoopNest nest = kept;
    const LoopNest& part = parts[i].summed;
    nest.dims.insert(nest.dims.end(), part.dims.begin(), part.dims.end());
    for (size_t k = 0; k < 2; ++k)
      nest.strides[k].insert(nest.strides[k].end(), part.strides[k].begin(), part.strides[k].end());
    const bool is_last = i + 1 == parts.size();
    const TensorId to = is_last ? y : integer_workspace(lowering, "sums", lowering.tensor(y).desc.shape);
    std::vector<Binding> bindings{reads("a", tile->a), reads("b", tile->b), writes("y", to)};
    if (sums != kNoTensor) bindings.push_back(reads("before", sums));
    Dispatch dispatch = make_dispatch(
        "contract_tile", grid_1d(lowering.caps(), tiles), std::move(bindings),
        ContractTileParameters{.count = tiles,
                               .loops = static_cast<int64_t>(kept.dims.size() | nest.dims.size() << 8 |
                                                             tile->columns << 16 | tile->rows << 24),
                               .a_first = parts[i].a_first,
                               .b_first = parts[i].b_first,
                               .dims = nest.dims,
                               .a_strides = nest.strides[0],
                               .b_strides = nest.strides[1]});
    dispatch.macs = static_cast<uint64_t>(element_count(kept.dims) * element_count(part.dims));
    dispatch.iterations = iterations_of(part.dims);
    define(dispatch, "TILE_ROWS", std::to_string(tile->row_count));
    if (sums != kNoTensor) define(dispatch, "ADD");
    lowering.dispatch(std::move(dispatch));
    sums = to;
  }
  return true;
}

}  // namespace vellum
