#include "kernels/movement/strided_words.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/grid.hpp"
#include "shaders/movement/strided_words.h"
#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr size_t kMostLoops = decltype(StridedWordsParameters::dims)::size();
constexpr uint64_t kWord = 4;
// The kernel's positions are int.
constexpr uint64_t kMostBytes = uint64_t{1} << 31;

[[noreturn]] void refuse_strides(const std::string& why, ErrorCode code = ErrorCode::invalid_argument) {
  throw Error(code, "its strides: " + why);
}

// Throws Error(invalid_argument) unless the stride of each dimension is at least the extent of all dimensions
// with smaller strides.
void check_no_overlap(const Shape& shape, std::span<const uint64_t> strides, uint64_t element_bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> dims;  // stride, count
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) dims.emplace_back(strides[d], static_cast<uint64_t>(shape[d]));
  std::ranges::sort(dims);
  uint64_t reached = element_bytes;
  for (const auto& [stride, count] : dims) {
    if (stride < reached)
      refuse_strides("elements overlap, for " + std::to_string(stride) + " bytes is less than the " +
                     std::to_string(reached) + " of what is between neighbours");
    reached += stride * (count - 1);
  }
}

}  // namespace

StridedWords strided_words(const Shape& shape, ElementType element, std::span<const uint64_t> strides,
                           bool writes) {
  const uint64_t element_bytes = size_of(element);
  if (strides.size() != shape.size())
    refuse_strides("there are " + std::to_string(strides.size()) + " for the shape " + to_string(shape));
  StridedWords words;
  words.bytes = element_bytes;
  LoopNest nest{shape, {{}}};
  for (size_t d = 0; d < shape.size(); ++d) {
    const uint64_t steps = static_cast<uint64_t>(std::max<int64_t>(shape[d] - 1, 0));
    if (strides[d] % element_bytes != 0)
      refuse_strides(std::to_string(strides[d]) + " is not a multiple of the " +
                     std::to_string(element_bytes) + " bytes of an element");
    if (strides[d] > kMostBytes || steps * strides[d] > kMostBytes - words.bytes)
      refuse_strides("they reach beyond 2 GiB", ErrorCode::unsupported);
    words.bytes += steps * strides[d];
    nest.strides[0].push_back(static_cast<int64_t>(strides[d] / element_bytes));
  }
  if (writes) check_no_overlap(shape, strides, element_bytes);
  nest = collapse(nest);
  int64_t no_step = 0;
  if (element_bytes == 1 && !counts_in_groups(nest, {&no_step, 1}))
    refuse_strides("bytes are copied in groups of four neighbours only", ErrorCode::unsupported);
  if (element_bytes != 1 && element_bytes != kWord)
    refuse_strides("elements of " + std::to_string(element_bytes) + " bytes have none",
                   ErrorCode::unsupported);
  if (nest.dims.size() > kMostLoops)
    refuse_strides("there are more than " + std::to_string(kMostLoops) + " different ones",
                   ErrorCode::unsupported);
  words.nest = std::move(nest);
  return words;
}

Dispatch copy_strided_words(const DeviceCaps& caps, const StridedWords& words, bool scatter) {
  const int64_t count = element_count(words.nest.dims);
  Dispatch dispatch = make_dispatch("strided_words", grid_1d(caps, count), {},
                                    StridedWordsParameters{.count = count,
                                                           .rank = words.nest.dims.size(),
                                                           .dims = words.nest.dims,
                                                           .strides = words.nest.strides[0]});
  for (const std::string tensor : {"x", "y"}) {
    define(dispatch, "STORAGE_" + tensor, "LINEAR");
    define(dispatch, "ELEMENT_" + tensor, element_macro(ElementType::i32));
  }
  define(dispatch, "BINDING_x", "0");
  define(dispatch, "BINDING_y", "1");
  if (scatter) define(dispatch, "SCATTER");
  return dispatch;
}

}  // namespace vellum
