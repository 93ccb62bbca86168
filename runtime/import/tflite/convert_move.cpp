// Converters of operators that move elements.
#include <algorithm>
#include <numeric>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/byte_tables.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// Returns the first or last `count` elements along an axis, in reverse order.
ValueId mirrored(const Call& call, ValueId x, int64_t axis, int64_t length, int64_t count, bool last) {
  const Ints begin{last ? length - 1 : count - 1}, end{last ? length - 1 - count : INT64_MIN};
  return call.emit_inner(std::make_shared<Slice>(), {x, call.ints(begin, "begin"), call.ints(end, "end"),
                                                     call.ints({axis}, "axis"), call.ints({-1}, "step")});
}

// SYMMETRIC repeats the elements at the edge, which no mode of Pad does.
void pad_symmetrically(const Call& call, const Ints& before, const Ints& after) {
  const Shape& shape = call.writer.type(call.input(0)).shape;
  ValueId value = call.writer.in_file_order(call.input(0));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (before[i] == 0 && after[i] == 0) continue;
    if (shape[i] < 0) refuse_unsupported("mode SYMMETRIC along an open dimension");
    if (before[i] < 0 || after[i] < 0 || std::max(before[i], after[i]) > shape[i])
      refuse_model("paddings of " + std::to_string(std::max(before[i], after[i])) + " around " +
                   std::to_string(shape[i]));
    const auto axis = static_cast<int64_t>(i);
    std::vector<ValueId> parts{value};
    if (before[i] > 0) parts.insert(parts.begin(), mirrored(call, value, axis, shape[i], before[i], false));
    if (after[i] > 0) parts.push_back(mirrored(call, value, axis, shape[i], after[i], true));
    auto concat = std::make_shared<Concat>();
    concat->axis = axis;
    value = call.emit_inner(std::move(concat), std::move(parts));
  }
  call.emit(std::make_shared<Identity>(), {value}, false);
}

// SQUEEZE or EXPAND_DIMS of a tensor with several open dimensions, by the axes that the operator names.
void convert_by_axes(const Call& call, size_t rank) {
  const bool expands = call.type == "EXPAND_DIMS";
  Ints axes;
  if (expands) {
    axes = call.constant_of_rank(1, 1, "axis");
  } else if (const auto* options = call.options<schema::SqueezeOptions>();
             options != nullptr && options->squeeze_dims() != nullptr) {
    call.writer.file().count(options->squeeze_dims()->size(), sizeof(int64_t));
    axes.assign(options->squeeze_dims()->begin(), options->squeeze_dims()->end());
  }
  if (axes.empty()) refuse_unsupported("open dimensions, any of which may be 1");
  // Counted from the start, where parts of complex numbers are not in the way.
  for (int64_t& axis : axes) axis = static_cast<int64_t>(normalize_axis(axis, rank + (expands ? 1 : 0)));
  std::shared_ptr<const Operator> op;
  if (expands) {
    auto unsqueeze = std::make_shared<Unsqueeze>();
    unsqueeze->axes = axes;
    op = std::move(unsqueeze);
  } else {
    auto squeeze = std::make_shared<Squeeze>();
    squeeze->axes = axes;
    op = std::move(squeeze);
  }
  const int32_t x = call.input(0);
  call.emit(std::move(op),
            {call.writer.is_complex(x) ? call.writer.complex_parts(x) : call.writer.in_file_order(x)}, false);
}

}  // namespace

// RESHAPE, SQUEEZE and EXPAND_DIMS keep the elements in the file's order.
void convert_reshape(const Call& call) {
  const Shape from = call.writer.type(call.input(0)).shape;
  Shape to = call.writer.type(call.output()).shape;
  const bool is_complex = call.writer.is_complex(call.input(0));
  if (is_complex != call.writer.is_complex(call.output())) refuse_model("its types differ");
  if (call.type == "RESHAPE") {
    const auto* options = call.options<schema::ReshapeOptions>();
    if (call.has_input(1) && call.writer.constant(call.input(1)) == nullptr) {
      // The shape is computed from other shapes, and known once those are.
      auto reshape = std::make_shared<Reshape>();
      reshape->allow_zero = true;
      call.emit(std::move(reshape),
                {call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1))}, false);
      return;
    }
    if (call.has_input(1)) {
      to = call.writer.constant_ints(call.input(1), "the new shape");
    } else if (options != nullptr && options->new_shape() != nullptr) {
      call.writer.file().count(options->new_shape()->size(), sizeof(int64_t));
      to.assign(options->new_shape()->begin(), options->new_shape()->end());
    }
  }
  if (to.size() > kMostDims) refuse_model(std::to_string(to.size()) + " dimensions");
  if (std::count_if(to.begin(), to.end(), [](int64_t dim) { return dim < 0; }) > 1) {
    if (call.type != "RESHAPE") return convert_by_axes(call, from.size());
    refuse_unsupported("the shape it makes, " + to_string(to) + ", is not known before running");
  }
  // RESHAPE copies the batch from its input, so that the model can run with another batch. The other
  // operators name the dimension.
  auto reshape = std::make_shared<Reshape>();
  const bool known = call.type == "RESHAPE" && is_known(from) && is_known(to) && !from.empty() && !to.empty();
  const bool keeps_batch = known && from[0] == to[0] && from[0] == 1;
  if (keeps_batch) to[0] = 0;
  reshape->allow_zero = !keeps_batch;
  reshape->shape = to;
  if (is_complex) reshape->shape->push_back(2);
  if (keeps_batch && std::find(to.begin() + 1, to.end(), 0) != to.end())
    refuse_unsupported("an empty tensor");
  const ValueId x =
      is_complex ? call.writer.complex_parts(call.input(0)) : call.writer.in_file_order(call.input(0));
  call.emit(std::move(reshape), {x}, false);
}

void convert_transpose(const Call& call) {
  auto op = std::make_shared<Transpose>();
  op->perm = call.writer.constant_ints(call.input(1), "the permutation");
  call.emit(std::move(op), {call.writer.in_file_order(call.input(0))}, false);
}

namespace {

// Returns the value of an input, converted to the scale of the output.
ValueId joined_input(const Call& call, size_t index, bool image) {
  const int32_t tensor = call.input(index);
  const ValueId value = call.writer.in_order(tensor, image);
  const auto x = byte_scale(call, tensor), y = byte_scale(call, call.output());
  if (!x || !y || (x->scale == y->scale && x->zero == y->zero)) return value;
  const TableNode table = make_table(call, *x, *y, requantise_to_join(*x, *y));
  return call.emit_inner(table.op, {value, table.entries});
}

}  // namespace

void convert_concatenation(const Call& call) {
  const auto& options = call.required_options<schema::ConcatenationOptions>();
  const bool image = call.prefers_image();
  auto op = std::make_shared<Concat>();
  op->axis = held_axis(options.axis(), call.writer.rank(call.input(0)), image);
  std::vector<ValueId> values;
  for (size_t i = 0; i < call.inputs.size(); ++i) values.push_back(joined_input(call, i, image));
  call.emit(std::move(op), std::move(values), image, options.activation());
}

namespace {

// Returns the sizes of a SPLIT_V. One of them may be -1, which is what the others leave of `length`.
Ints split_sizes(const Call& call, int64_t length) {
  Ints sizes = call.constant_of_rank(1, call.outputs.size(), "sizes");
  const auto rest = std::find(sizes.begin(), sizes.end(), -1);
  if (rest == sizes.end()) return sizes;
  if (length == kUnknownDim) refuse_unsupported("a size of -1 along an open dimension");
  *rest = length;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes.begin() + static_cast<std::ptrdiff_t>(i) == rest) continue;
    if (sizes[i] < 0 || sizes[i] > *rest) refuse_model("its sizes do not fit " + std::to_string(length));
    *rest -= sizes[i];
  }
  return sizes;
}

}  // namespace

// SPLIT has inputs axis, x; SPLIT_V x, sizes, axis.
void convert_split(const Call& call) {
  const bool with_sizes = call.type == "SPLIT_V";
  const int32_t x = call.input(with_sizes ? 0 : 1);
  const Ints axis = call.writer.constant_ints(call.input(with_sizes ? 2 : 0), "the axis");
  if (axis.size() != 1) refuse_model("the axis is not one number");
  const bool image = call.writer.held_as_image(x);
  auto op = std::make_shared<Split>();
  op->axis = held_axis(axis[0], call.writer.rank(x), image);
  op->output_count = call.outputs.size();
  if (with_sizes) {
    const size_t along = normalize_axis(axis[0], call.writer.rank(x));
    op->split = split_sizes(call, call.writer.type(x).shape[along]);
  }
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    outputs.push_back(call.writer.define(call.output(i), image));
  }
  call.writer.add_node(std::move(op), {call.writer.in_order(x, image)}, std::move(outputs));
}

void convert_pad(const Call& call) {
  const int32_t x = call.input(0);
  const size_t rank = call.writer.rank(x);
  // Many networks begin with a PAD. On an image it can be fused into a convolution.
  const bool image = rank == 4 && is_float(call.writer.type(x).dtype);
  const Ints pads = call.constant_of_rank(1, 2 * rank, "paddings");
  Ints begin, end;
  for (size_t i = 0; i < rank; ++i) {
    begin.push_back(pads[2 * i]);
    end.push_back(pads[2 * i + 1]);
  }
  auto op = std::make_shared<Pad>();
  if (call.type == "MIRROR_PAD") {
    const auto& options = call.required_options<schema::MirrorPadOptions>();
    if (options.mode() == schema::MirrorPadMode::symmetric) return pad_symmetrically(call, begin, end);
    op->mode = PadMode::reflect;
  }
  op->pads = by_axis(begin, image);
  for (const int64_t amount : by_axis(end, image)) op->pads->push_back(amount);
  if (call.type == "PADV2") {
    const HostTensor* value = call.writer.constant(call.input(2));
    if (value == nullptr || value->elements() != 1)
      refuse_unsupported("a padding value computed at run time");
    op->value = value->to_floats()[0];
  }
  call.emit(std::move(op), {call.writer.in_order(x, image)}, image);
}

namespace {

// The axis of an options table, which may count from the end.
size_t checked_axis(int64_t axis, size_t rank, const char* what) {
  const int64_t at = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  if (at < 0 || at >= static_cast<int64_t>(rank))
    refuse_model(std::string(what) + " " + std::to_string(axis) + " of " + std::to_string(rank) +
                 " dimensions");
  return static_cast<size_t>(at);
}

// The order of the dimensions after dimension `from` has moved to `to`.
Ints moved(size_t rank, size_t from, size_t to) {
  Ints order(rank);
  std::iota(order.begin(), order.end(), 0);
  const int64_t dimension = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), dimension);
  return order;
}

// Dimensions of the data: batch, outer, the axis, inner; those of the indices: batch, chosen. GatherND takes
// batch, the axis, outer, inner, and makes batch, chosen, outer, inner of them.
void gather_batches(const Call& call, size_t axis, size_t batch) {
  const size_t rank = call.writer.rank(call.input(0)), indices_rank = call.writer.rank(call.input(1));
  const size_t outer = axis - batch, chosen = indices_rank - batch;
  ValueId data = call.writer.in_file_order(call.input(0));
  if (outer > 0) {
    auto transpose = std::make_shared<Transpose>();
    transpose->perm = moved(rank, axis, batch);
    data = call.emit_inner(std::move(transpose), {data});
  }
  auto tuples = std::make_shared<Unsqueeze>();  // each of one index
  tuples->axes = Ints{static_cast<int64_t>(indices_rank)};
  const ValueId indices = call.emit_inner(std::move(tuples), {call.writer.in_file_order(call.input(1))});
  auto gather = std::make_shared<GatherND>();
  gather->batch_dims = static_cast<int64_t>(batch);
  if (outer == 0 || chosen == 0) return call.emit(std::move(gather), {data, indices}, false);
  const ValueId gathered = call.emit_inner(std::move(gather), {data, indices});
  auto back = std::make_shared<Transpose>();
  back->perm = Ints(batch + chosen + rank - batch - 1);
  std::iota(back->perm->begin(), back->perm->end(), 0);
  const auto begin = back->perm->begin() + static_cast<std::ptrdiff_t>(batch);
  std::rotate(begin, begin + static_cast<std::ptrdiff_t>(chosen),
              begin + static_cast<std::ptrdiff_t>(chosen + outer));
  call.emit(std::move(back), {gathered}, false);
}

// Returns the table of which `indices` choose rows.
ValueId rows_of(const Call& call, int32_t table, int32_t indices) {
  const bool is_computed = call.writer.constant(indices) == nullptr;
  return is_computed ? call.writer.table_of_rows(table) : call.writer.in_file_order(table);
}

}  // namespace

// Inputs row numbers, table.
void convert_embedding_lookup(const Call& call) {
  if (call.writer.rank(call.input(0)) != 1 || call.writer.rank(call.input(1)) < 2)
    refuse_model("it takes a list of rows and a table");
  call.emit(std::make_shared<Gather>(),
            {rows_of(call, call.input(1), call.input(0)), call.writer.in_file_order(call.input(0))}, false);
}

void convert_gather(const Call& call) {
  const auto& options = call.required_options<schema::GatherOptions>();
  if (options.batch_dims() != 0) {
    const size_t indices_rank = call.writer.rank(call.input(1));
    const int64_t given = options.batch_dims();
    const int64_t batch = given < 0 ? given + static_cast<int64_t>(indices_rank) : given;
    const size_t axis = checked_axis(options.axis(), call.writer.rank(call.input(0)), "axis");
    if (batch < 0 || batch > static_cast<int64_t>(indices_rank) || batch > static_cast<int64_t>(axis))
      refuse_model("batch_dims is " + std::to_string(given));
    if (batch > 0) return gather_batches(call, axis, static_cast<size_t>(batch));
  }
  auto op = std::make_shared<Gather>();
  op->axis = options.axis();
  const bool gathers_rows = options.axis() == 0;
  const ValueId table =
      gathers_rows ? rows_of(call, call.input(0), call.input(1)) : call.writer.in_file_order(call.input(0));
  call.emit(std::move(op), {table, call.writer.in_file_order(call.input(1))}, false);
}

}  // namespace vellum::tflite
