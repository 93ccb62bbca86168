// Converters of operators that sort, count, scatter and sum along an axis. All work in the file's order.
#include <array>
#include <set>

#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/scatter.hpp"
#include "graph/operators/movement/select_values.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/movement/unique.hpp"
#include "graph/operators/reduction/scan.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// The only element of a constant.
int64_t constant_int(const Call& call, size_t index, const char* what) {
  const Ints values = call.writer.constant_ints(call.input(index), what);
  if (values.size() != 1) refuse_model(std::string(what) + " is not one number");
  return values[0];
}

}  // namespace

// Outputs values and indices, which are int32 in the file and int64 in the operator.
void convert_top_k(const Call& call) {
  auto top = std::make_shared<TopK>();
  top->k = constant_int(call, 1, "k");
  const ValueId indices = call.writer.add_value(call.writer.name_of(call.output(1)) + "_inner");
  call.writer.add_node(std::move(top), {call.writer.in_file_order(call.input(0))},
                       {call.writer.define(call.output(0), false), indices});
  auto cast = std::make_shared<Cast>();
  cast->to = call.writer.type(call.output(1)).dtype;
  call.writer.add_node(std::move(cast), {indices}, {call.writer.define(call.output(1), false)});
}

// Inputs indices, depth, the value at the index, the value elsewhere. A negative index, which counts from the
// end in the graph's operator, names no value here.
void convert_one_hot(const Call& call) {
  const auto& options = call.required_options<schema::OneHotOptions>();
  const HostTensor *on = call.writer.constant(call.input(2)), *off = call.writer.constant(call.input(3));
  if (on == nullptr || off == nullptr || on->elements() != 1 || off->elements() != 1)
    refuse_unsupported("values that are computed at run time");
  auto op = std::make_shared<OneHot>();
  op->axis = options.axis();
  const std::array values{off->to_floats()[0], on->to_floats()[0]};
  const ValueId both = call.writer.add_constant(call.writer.name_of(call.output()) + "_values",
                                                HostTensor::from<float>(on->dtype(), {2}, values));
  const ValueId indices = call.computed_ints(0), depth = call.ints({constant_int(call, 1, "depth")}, "depth");
  const ValueId is_negative =
      call.emit_inner(make_binary(BinaryKind::less), {indices, call.ints({0}, "first")});
  const ValueId beyond = call.emit_inner(std::make_shared<Where>(), {is_negative, depth, indices});
  call.emit(std::move(op), {beyond, depth, both}, false);
}

// The positions of what is not zero, one in each row. How many there are is known when the values are.
void convert_where(const Call& call) {
  auto rows = std::make_shared<Transpose>();
  rows->perm = Ints{1, 0};
  const ValueId columns =
      call.emit_inner(std::make_shared<NonZero>(), {call.writer.in_file_order(call.input(0))});
  call.emit(std::move(rows), {columns}, false);
}

// Inputs indices, updates, shape of the result, which is 0 elsewhere. Updates of one element are added.
void convert_scatter_nd(const Call& call) {
  const Shape shape = call.writer.constant_ints(call.input(2), "the shape");
  const DType dtype = call.writer.type(call.output()).dtype;
  call.writer.file().count(static_cast<uint64_t>(checked_element_count(shape)), size_of(dtype));
  auto op = std::make_shared<ScatterND>();
  op->reduction = ScatterReduction::add;
  const ValueId zeros =
      call.writer.add_constant(call.writer.name_of(call.output()) + "_zeros", HostTensor(dtype, shape));
  call.emit(std::move(op),
            {zeros, call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1))},
            false);
}

// Inputs indices (one, a list, or index tuples in rows), the shape of the result, the values at the indices
// (or one for all), the value elsewhere.
void convert_sparse_to_dense(const Call& call) {
  if (call.writer.quantised(call.input(2)) || call.writer.quantised(call.output()))
    refuse_unsupported("quantised values");
  const Shape places = call.writer.type(call.input(0)).shape;
  const Shape& values = call.writer.type(call.input(2)).shape;
  if (places.size() > 2 || values.size() > 1)
    refuse_model("indices of " + to_string(places) + " and values of " + to_string(values));
  if (!is_known(places)) refuse_unsupported("an open number of indices");
  const int64_t count = places.empty() ? 1 : places[0];
  // LiteRT keeps the last of several values at one index; ScatterND on a device keeps any of them.
  if (call.writer.constant(call.input(0)) != nullptr && places.size() > 0 && count > 0) {
    const Ints all = call.writer.constant_ints(call.input(0), "the indices");
    const auto size = static_cast<std::ptrdiff_t>(all.size() / static_cast<size_t>(count));
    call.writer.file().count(static_cast<uint64_t>(count), sizeof(Ints));
    std::set<Ints> seen;
    for (auto tuple = all.begin(); tuple != all.end() && size > 0; tuple += size)
      if (!seen.emplace(tuple, tuple + size).second) refuse_unsupported("an index that is repeated");
  }
  auto tuples = std::make_shared<Reshape>();
  tuples->shape = Ints{count, places.size() == 2 ? places[1] : 1};
  tuples->allow_zero = true;
  const ValueId dims = call.computed_ints(1);
  const ValueId dense =
      call.emit_inner(std::make_shared<Expand>(), {call.writer.in_file_order(call.input(3)), dims});
  const ValueId indices = call.emit_inner(std::move(tuples), {call.computed_ints(0)});
  const ValueId updates = call.emit_inner(
      std::make_shared<Expand>(), {call.writer.in_file_order(call.input(2)), call.ints({count}, "count")});
  call.emit(std::make_shared<ScatterND>(), {dense, indices, updates}, false);
}

// Inputs data, and for each of its slices the number of the sum that it belongs to: 0, then the same or the
// next.
void convert_segment_sum(const Call& call) {
  if (call.writer.quantised(call.input(0))) refuse_unsupported("quantised data");
  const Ints segments = call.writer.constant_ints(call.input(1), "the segments");
  Shape shape = call.writer.type(call.input(0)).shape;
  if (shape.empty() || call.writer.rank(call.input(1)) != 1) refuse_model("data of " + to_string(shape));
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool is_same = segments[i] == (i == 0 ? 0 : segments[i - 1]);
    const bool is_next = i > 0 && segments[i] == segments[i - 1] + 1;
    if (!is_same && !is_next) refuse_model("segment " + std::to_string(segments[i]));
  }
  if (shape[0] != static_cast<int64_t>(segments.size()))
    refuse_model(std::to_string(segments.size()) + " segments of " + to_string(shape));
  shape[0] = segments.empty() ? 0 : segments.back() + 1;
  if (!is_known(shape)) refuse_unsupported("data with open dimensions");
  const DType dtype = call.writer.type(call.input(0)).dtype;
  call.writer.file().count(static_cast<uint64_t>(checked_element_count(shape)), size_of(dtype));
  auto op = std::make_shared<ScatterND>();
  op->reduction = ScatterReduction::add;
  const std::string name = call.writer.name_of(call.output());
  const ValueId zeros = call.writer.add_constant(name + "_zeros", HostTensor(dtype, shape));
  const ValueId indices = call.writer.add_constant(
      name + "_segments", HostTensor::i64({static_cast<int64_t>(segments.size()), 1}, segments));
  call.emit(std::move(op), {zeros, indices, call.writer.in_file_order(call.input(0))}, false);
}

// Outputs the values in the order of their first occurrence, and for each element the index of its value.
void convert_unique(const Call& call) {
  auto unique = std::make_shared<Unique>();
  unique->sorted = false;
  if (call.writer.quantised(call.input(0))) refuse_unsupported("quantised elements");
  const ValueId indices = call.writer.add_value(call.writer.name_of(call.output(1)) + "_inner");
  call.writer.add_node(std::move(unique), {call.writer.in_file_order(call.input(0))},
                       {call.writer.define(call.output(0), false), kNoValue, indices});
  call.writer.add_node(cast_to(call.writer.type(call.output(1)).dtype), {indices},
                       {call.writer.define(call.output(1), false)});
}

void convert_cumsum(const Call& call) {
  const auto* options = call.options<schema::CumsumOptions>();
  auto op = std::make_shared<CumSum>();
  op->exclusive = options != nullptr && options->exclusive();
  op->reverse = options != nullptr && options->reverse();
  call.emit(
      std::move(op),
      {call.writer.in_file_order(call.input(0)), call.ints({constant_int(call, 1, "the axis")}, "axis")},
      false);
}

// The graph's operator reverses along dimensions 0 and 1, of which one is the batch: the others go behind
// them.
void convert_reverse_sequence(const Call& call) {
  const auto& options = call.required_options<schema::ReverseSequenceOptions>();
  const auto rank = static_cast<int64_t>(call.writer.rank(call.input(0)));
  const int64_t time = options.seq_dim(), batch = options.batch_dim();
  if (time < 0 || batch < 0 || time >= rank || batch >= rank || time == batch)
    refuse_model("dimensions " + std::to_string(time) + " and " + std::to_string(batch) + " of " +
                 std::to_string(rank));
  Ints order{batch, time}, back(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (i != time && i != batch) order.push_back(i);
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  auto there = std::make_shared<Transpose>(), again = std::make_shared<Transpose>();
  there->perm = order;
  again->perm = back;
  auto op = std::make_shared<ReverseSequence>();
  op->batch_axis = 0;
  op->time_axis = 1;
  const ValueId lengths = call.computed_ints(1);
  const ValueId x = call.emit_inner(std::move(there), {call.writer.in_file_order(call.input(0))});
  call.emit(std::move(again), {call.emit_inner(std::move(op), {x, lengths})}, false);
}

}  // namespace vellum::tflite
