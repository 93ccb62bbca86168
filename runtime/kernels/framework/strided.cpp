#include "kernels/framework/strided.hpp"

#include <algorithm>
#include <optional>

#include "kernels/framework/elements.hpp"
#include "shaders/movement/strided_copy.h"

namespace vellum {

namespace {

constexpr size_t kMaxDims = decltype(StridedCopyParameters::dims)::size();

// Returns the loops as a copy of contiguous bytes, if they are one.
std::optional<PlainCopy> plain_copy(Lowering& lowering, TensorId x, TensorId y, const LoopNest& nest,
                                    int64_t base) {
  const TensorDesc &from = lowering.tensor(x).desc, &to = lowering.tensor(y).desc;
  const bool neighbours = nest.dims.size() == 1 && (nest.strides[0][0] == 1 || nest.dims[0] == 1);
  if (!neighbours || !from.has_elements_of(to) || base < 0) return std::nullopt;
  const uint64_t size = size_of(to.element);
  return PlainCopy{x, y, static_cast<uint64_t>(base) * size, 0,
                   static_cast<uint64_t>(element_count(to.shape)) * size};
}

}  // namespace

LoopNest collapse(const LoopNest& nest) {
  LoopNest result;
  result.strides.resize(nest.strides.size());
  for (size_t d = nest.dims.size(); d-- > 0;) {
    if (nest.dims[d] == 1) continue;
    bool continues = !result.dims.empty();
    for (size_t k = 0; k < nest.strides.size() && continues; ++k)
      continues = nest.strides[k][d] == result.strides[k].front() * result.dims.front();
    if (continues) {
      result.dims.front() *= nest.dims[d];
      continue;
    }
    result.dims.insert(result.dims.begin(), nest.dims[d]);
    for (size_t k = 0; k < nest.strides.size(); ++k)
      result.strides[k].insert(result.strides[k].begin(), nest.strides[k][d]);
  }
  if (result.dims.empty()) {
    result.dims = {1};
    for (auto& strides : result.strides) strides = {0};
  }
  return result;
}

bool counts_in_groups(LoopNest& nest, std::span<int64_t> steps) {
  auto& strides = nest.strides[0];
  const auto whole = [](int64_t number) { return number % 4 == 0; };
  if (strides.back() != 1 || !whole(nest.dims.back()) || !std::ranges::all_of(steps, whole)) return false;
  if (!std::all_of(strides.begin(), strides.end() - 1, whole)) return false;
  nest.dims.back() /= 4;
  std::for_each(strides.begin(), strides.end() - 1, [](int64_t& stride) { stride /= 4; });
  for (int64_t& step : steps) step /= 4;
  return true;
}

bool has_long_rows(const std::vector<int64_t>& dims) { return dims.size() > 1 && dims.back() >= 3; }

bool strided_copy(Lowering& lowering, size_t output, const std::vector<int64_t>& strides, int64_t base) {
  return strided_copy(lowering, output, LoopNest{lowering.output_type(output).shape, {strides}}, base);
}

bool strided_copy(Lowering& lowering, size_t output, LoopNest nest, int64_t base) {
  nest = collapse(nest);
  if (nest.dims.size() > kMaxDims) return false;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(output, Layout::linear);
  strided_copy(lowering, x, y, std::move(nest), base);
  return true;
}

void strided_copy(Lowering& lowering, TensorId x, TensorId y, LoopNest nest, int64_t base) {
  nest = collapse(nest);
  const Shape& shape = lowering.tensor(y).desc.shape;
  const std::optional<PlainCopy> plain = plain_copy(lowering, x, y, nest, base);
  const bool groups = counts_in_groups(nest, {&base, 1});
  const int64_t count = groups ? groups_of_four(shape) : element_count(shape);
  Dispatch dispatch = make_dispatch("strided_copy", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads("x", x), writes("y", y)},
                                    StridedCopyParameters{.count = count,
                                                          .rank = nest.dims.size(),
                                                          .base = base,
                                                          .dims = nest.dims,
                                                          .strides = nest.strides[0]});
  if (groups)
    define(dispatch, "GROUPS");
  else if (has_long_rows(nest.dims))
    define(dispatch, "LONG_ROWS");
  dispatch.copy = plain;
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum
