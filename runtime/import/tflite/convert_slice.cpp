// Converters of operators that cut tensors out or reverse them.
#include <algorithm>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

namespace {

// A begin or size that is computed, from shapes. A size of -1 is all that follows.
void convert_computed_slice(const Call& call) {
  const ValueId begin = call.computed_ints(1), size = call.computed_ints(2);
  const ValueId end = call.emit_inner(make_binary(BinaryKind::add), {begin, size});
  const ValueId is_open = call.emit_inner(make_binary(BinaryKind::less), {size, call.ints({0}, "none")});
  const ValueId bounded =
      call.emit_inner(std::make_shared<Where>(), {is_open, call.ints({INT64_MAX}, "open"), end});
  call.emit(std::make_shared<Slice>(), {call.writer.in_file_order(call.input(0)), begin, bounded}, false);
}

}  // namespace

void convert_slice(const Call& call) {
  if (call.writer.constant(call.input(1)) == nullptr || call.writer.constant(call.input(2)) == nullptr)
    return convert_computed_slice(call);
  const int32_t x = call.input(0);
  const size_t rank = call.writer.rank(x);
  const bool image = call.writer.held_as_image(x);
  const Ints begin = call.constant_of_rank(1, rank, "begin"), size = call.constant_of_rank(2, rank, "size");
  Ints end;
  for (size_t i = 0; i < rank; ++i) {
    if (begin[i] < 0 || size[i] < -1)
      refuse_model("a slice begins before the tensor, or has a negative size");
    end.push_back(size[i] == -1 ? INT64_MAX : checked_add(begin[i], size[i]));
  }
  auto op = std::make_shared<Slice>();
  op->starts = by_axis(begin, image);
  op->ends = by_axis(end, image);
  call.emit(std::move(op), {call.writer.in_order(x, image)}, image);
}

namespace {

// The part of its input that STRIDED_SLICE takes, one entry for each dimension that it names, and the
// dimensions of the result.
struct StridedSlice {
  Ints entries;  // of begin, end and strides, for each such dimension
  Ints steps, axes;
  std::vector<bool> from_edge, to_edge, takes_index;  // what the masks say of each
  size_t count = 0;                                   // of the entries of begin, end and strides
  Ints gone;                                          // dimensions of the input of which one index is taken
  Ints fresh;                                         // dimensions of 1 in the result
};

// Inputs x, begin, end, strides, with an entry for each dimension, for each new one (new_axis_mask), and for
// all that are not named (ellipsis_mask). A bit of begin_mask or end_mask means "from the edge", one of
// shrink_axis_mask one index and no dimension. Where bits of several masks meet, the ellipsis counts, then
// the new dimension.
StridedSlice read_strided_slice(const Call& call, const schema::StridedSliceOptions& options) {
  const size_t rank = call.writer.rank(call.input(0));
  const Ints steps = call.writer.constant_ints(call.input(3), "strides");
  if (steps.size() > 31) refuse_model("begin, end and strides do not fit together");
  const auto is_set = [](int32_t mask, size_t i) { return (mask >> i & 1) != 0; };
  size_t named = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    named += !is_set(options.ellipsis_mask(), i) && !is_set(options.new_axis_mask(), i);
  if (named > rank) refuse_model("begin, end and strides do not fit its input");

  StridedSlice result;
  result.count = steps.size();
  size_t axis = 0, kept = 0;  // dimensions of the input, and of the result, so far
  for (size_t i = 0; i < steps.size(); ++i) {
    if (is_set(options.ellipsis_mask(), i)) {
      if ((options.ellipsis_mask() & (options.ellipsis_mask() - 1)) != 0) refuse_model("two ellipses");
      axis += rank - named;
      kept += rank - named;
      continue;
    }
    if (is_set(options.new_axis_mask(), i)) {
      result.fresh.push_back(static_cast<int64_t>(kept++));
      continue;
    }
    if (steps[i] == 0) refuse_model("a stride is 0");
    const bool takes_index = is_set(options.shrink_axis_mask(), i);
    if (takes_index)
      result.gone.push_back(static_cast<int64_t>(axis));
    else
      ++kept;
    result.entries.push_back(static_cast<int64_t>(i));
    result.takes_index.push_back(takes_index);
    result.from_edge.push_back(!takes_index && is_set(options.begin_mask(), i));
    result.to_edge.push_back(!takes_index && is_set(options.end_mask(), i));
    result.steps.push_back(steps[i]);
    result.axes.push_back(static_cast<int64_t>(axis++));
  }
  return result;
}

// Where the parts begin and end along each dimension.
struct SliceBounds {
  ValueId begin, end;
};

SliceBounds constant_bounds(const Call& call, const StridedSlice& slice, bool ends_are_lengths) {
  const Ints begin = call.writer.constant_ints(call.input(1), "begin"),
             end = call.writer.constant_ints(call.input(2), "end");
  if (begin.size() != slice.count || end.size() != slice.count)
    refuse_model("begin, end and strides do not fit together");
  Ints firsts, lasts;
  for (size_t i = 0; i < slice.entries.size(); ++i) {
    const auto entry = static_cast<size_t>(slice.entries[i]);
    const bool forwards = slice.steps[i] > 0;
    int64_t first = begin[entry], last = end[entry];
    if (slice.from_edge[i]) first = forwards ? 0 : INT64_MAX;
    if (ends_are_lengths && !slice.to_edge[i]) {
      if (first == INT64_MAX) refuse_unsupported("a length from the last element backwards");
      last = checked_add(first, last);
      if (first < 0 && last >= 0) last = INT64_MAX;
    }
    if (slice.takes_index[i]) last = first == -1 ? INT64_MAX : checked_add(first, 1);
    if (slice.to_edge[i]) last = forwards ? INT64_MAX : INT64_MIN;
    firsts.push_back(first);
    lasts.push_back(last);
  }
  return {call.ints(firsts, "begin"), call.ints(lasts, "end")};
}

// Replaces the entries of `value` for which `replaces` is true.
ValueId with_entries(const Call& call, ValueId value, const std::vector<bool>& replaces, ValueId by) {
  if (std::find(replaces.begin(), replaces.end(), true) == replaces.end()) return value;
  HostTensor mask(DType::boolean, {static_cast<int64_t>(replaces.size())});
  for (size_t i = 0; i < replaces.size(); ++i) mask.mutable_as<uint8_t>()[i] = replaces[i];
  const ValueId condition = call.writer.add_constant(call.writer.name_of(call.output()) + "_mask", mask);
  return call.emit_inner(std::make_shared<Where>(), {condition, by, value});
}

// Begins and ends that are computed, from shapes.
SliceBounds computed_bounds(const Call& call, const StridedSlice& slice, bool ends_are_lengths) {
  Ints before, after;  // the edges in the direction of the strides
  for (const int64_t step : slice.steps) {
    before.push_back(step > 0 ? 0 : INT64_MAX);
    after.push_back(step > 0 ? INT64_MAX : INT64_MIN);
  }
  if (ends_are_lengths) refuse_unsupported("lengths that are computed");
  const ValueId entries = call.ints(slice.entries, "entries");
  const auto named = [&](size_t input) {
    return call.emit_inner(std::make_shared<Gather>(), {call.computed_ints(input), entries});
  };
  const ValueId begin = with_entries(call, named(1), slice.from_edge, call.ints(before, "before"));
  const ValueId next = call.emit_inner(make_binary(BinaryKind::add), {begin, call.ints({1}, "one")});
  const ValueId is_last = call.emit_inner(make_binary(BinaryKind::equal), {begin, call.ints({-1}, "last")});
  const ValueId behind =
      call.emit_inner(std::make_shared<Where>(), {is_last, call.ints({INT64_MAX}, "open"), next});
  ValueId end = with_entries(call, named(2), slice.takes_index, behind);
  end = with_entries(call, end, slice.to_edge, call.ints(after, "after"));
  return {begin, end};
}

}  // namespace

void convert_strided_slice(const Call& call) {
  const auto& options = call.required_options<schema::StridedSliceOptions>();
  const StridedSlice slice = read_strided_slice(call, options);
  const int32_t x = call.input(0);
  const bool keeps_rank = slice.gone.empty() && slice.fresh.empty();
  const bool image = call.writer.held_as_image(x) && keeps_rank;
  Ints axes;
  for (const int64_t axis : slice.axes) axes.push_back(held_axis(axis, call.writer.rank(x), image));
  const bool is_constant =
      call.writer.constant(call.input(1)) != nullptr && call.writer.constant(call.input(2)) != nullptr;
  const SliceBounds bounds = is_constant ? constant_bounds(call, slice, options.offset())
                                         : computed_bounds(call, slice, options.offset());
  const std::vector<ValueId> values{call.writer.in_order(x, image), bounds.begin, bounds.end,
                                    call.ints(axes, "axes"), call.ints(slice.steps, "strides")};
  if (keeps_rank) return call.emit(std::make_shared<Slice>(), values, image);
  ValueId part = call.emit_inner(std::make_shared<Slice>(), values);
  if (!slice.gone.empty()) {
    auto squeeze = std::make_shared<Squeeze>();
    squeeze->axes = slice.gone;
    if (slice.fresh.empty()) return call.emit(std::move(squeeze), {part}, false);
    part = call.emit_inner(std::move(squeeze), {part});
  }
  auto unsqueeze = std::make_shared<Unsqueeze>();
  unsqueeze->axes = slice.fresh;
  call.emit(std::move(unsqueeze), {part}, false);
}

void convert_reverse(const Call& call) {
  const int32_t x = call.input(0);
  const bool image = call.writer.held_as_image(x);
  Ints axes;
  for (const int64_t axis : call.writer.constant_ints(call.input(1), "the axes"))
    axes.push_back(held_axis(axis, call.writer.rank(x), image));
  const size_t count = axes.size();
  call.emit(std::make_shared<Slice>(),
            {call.writer.in_order(x, image), call.ints(Ints(count, -1), "begin"),
             call.ints(Ints(count, INT64_MIN), "end"), call.ints(axes, "axes"),
             call.ints(Ints(count, -1), "steps")},
            image);
}

}  // namespace vellum::tflite
