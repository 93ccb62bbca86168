// Converters of operators that cut tensors out or reverse them.
#include "graph/operators/elementwise/select.hpp"
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
  Ints begin, end, steps, axes;
  Ints gone;   // dimensions of the input of which one index is taken
  Ints fresh;  // dimensions of 1 in the result
};

// Inputs x, begin, end, strides, with an entry for each dimension, for each new one (new_axis_mask), and for
// all that are not named (ellipsis_mask). A bit of begin_mask or end_mask means "from the edge", one of
// shrink_axis_mask one index and no dimension. Where bits of several masks meet, the ellipsis counts, then
// the new dimension.
StridedSlice read_strided_slice(const Call& call, const schema::StridedSliceOptions& options) {
  const size_t rank = call.writer.rank(call.input(0));
  const Ints begin = call.writer.constant_ints(call.input(1), "begin"),
             end = call.writer.constant_ints(call.input(2), "end"),
             steps = call.writer.constant_ints(call.input(3), "strides");
  if (begin.size() > 31 || end.size() != begin.size() || steps.size() != begin.size())
    refuse_model("begin, end and strides do not fit together");
  const auto is_set = [](int32_t mask, size_t i) { return (mask >> i & 1) != 0; };
  size_t named = 0;
  for (size_t i = 0; i < begin.size(); ++i)
    named += !is_set(options.ellipsis_mask(), i) && !is_set(options.new_axis_mask(), i);
  if (named > rank) refuse_model("begin, end and strides do not fit its input");

  StridedSlice result;
  size_t axis = 0, kept = 0;  // dimensions of the input, and of the result, so far
  for (size_t i = 0; i < begin.size(); ++i) {
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
    int64_t first = begin[i], last = end[i];
    if (is_set(options.shrink_axis_mask(), i)) {
      last = first == -1 ? INT64_MAX : checked_add(first, 1);
      result.gone.push_back(static_cast<int64_t>(axis));
    } else {
      if (is_set(options.begin_mask(), i)) first = steps[i] > 0 ? 0 : INT64_MAX;
      if (is_set(options.end_mask(), i)) last = steps[i] > 0 ? INT64_MAX : INT64_MIN;
      ++kept;
    }
    result.begin.push_back(first);
    result.end.push_back(last);
    result.steps.push_back(steps[i]);
    result.axes.push_back(static_cast<int64_t>(axis++));
  }
  return result;
}

}  // namespace

void convert_strided_slice(const Call& call) {
  const auto& options = call.required_options<schema::StridedSliceOptions>();
  if (options.offset()) refuse_unsupported("ends that are offsets");
  const StridedSlice slice = read_strided_slice(call, options);
  const int32_t x = call.input(0);
  const bool keeps_rank = slice.gone.empty() && slice.fresh.empty();
  const bool image = call.writer.held_as_image(x) && keeps_rank;
  Ints axes;
  for (const int64_t axis : slice.axes) axes.push_back(held_axis(axis, call.writer.rank(x), image));
  const std::vector<ValueId> values{call.writer.in_order(x, image), call.ints(slice.begin, "begin"),
                                    call.ints(slice.end, "end"), call.ints(axes, "axes"),
                                    call.ints(slice.steps, "strides")};
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
