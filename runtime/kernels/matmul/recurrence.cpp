// Lowers Recurrence: the steps of RNN, GRU and LSTM along a sequence.
#include "graph/operators/matmul/recurrence.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "caps/driver_quirks.hpp"
#include "cost/device_traits.hpp"
#include "cost/subgroups.hpp"
#include "kernels/conv/byte_weights.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/strided.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/recurrence.h"

namespace vellum {
namespace {

// Returns the hidden units, padded to whole texels of R.
int64_t padded(int64_t hidden) { return 4 * slices(hidden); }
constexpr int64_t kArrays = 4;  // arrays of hidden units in shared memory, for each sequence of a workgroup

// Returns whether an activation has parameters. The shader has only activations without parameters.
bool has_parameters(const Activation& activation) {
  return activation.alpha != 0.0f || activation.beta != 0.0f || activation.is_scaled();
}

// Returns whether the shader reads input i. An initial state that is a constant of zeros, as exporters write
// it, is not read, because the shader begins with zeros.
bool is_given(const Lowering& lowering, size_t i) {
  if (!lowering.has_input(i)) return false;
  const bool is_state = i == 4 || i == 5;
  const HostTensor* known = is_state ? lowering.constant(i) : nullptr;
  return !known || std::ranges::any_of(known->to_floats(), [](float value) { return value != 0.0f; });
}

// Returns the outputs that the shader writes: Y, and Y_h and Y_c only if they are read, because some devices
// allow only four buffers.
std::vector<size_t> written_outputs(const Lowering& lowering) {
  std::vector<size_t> outputs{0};
  const size_t count = lowering.op<Recurrence>().cell == RecurrentCell::lstm ? 3 : 2;
  for (size_t i = 1; i < count; ++i)
    if (lowering.is_read(i)) outputs.push_back(i);
  return outputs;
}

// Returns why the node has no kernel; empty if it has one.
std::string why_on_host(const Lowering& lowering) {
  const auto& op = lowering.op<Recurrence>();
  if (!lowering.constant(1)) return "a recurrent layer whose R is computed at run time has no kernel";
  for (const Recurrence::Activations& of_direction : op.activations)
    if (of_direction != op.activations[0] || std::ranges::any_of(of_direction, has_parameters))
      return "a recurrent layer has a kernel for activations without parameters, the same in both directions";
  const int64_t bytes = kArrays * padded(lowering.input_type(1).shape[2]) * 4;
  if (bytes > lowering.caps().max_shared_memory_bytes)
    return "a recurrent layer of " + std::to_string(lowering.input_type(1).shape[2]) +
           " hidden units does not fit the shared memory of the device";
  size_t bindings = written_outputs(lowering).size();
  for (size_t i = 0; i < 7; ++i) bindings += is_given(lowering, i);
  if (bindings > lowering.caps().max_storage_buffers_per_stage)
    return "a recurrent layer of " + std::to_string(bindings) + " tensors has more than the device's buffers";
  return {};
}

// R as a texel grid. A texel has four columns of R; rows of R are along x, and its texels of columns along y,
// direction by direction. With 8-bit weights each direction has one more row of texels: the words of the
// scales of its rows.
struct PackedR {
  TensorId tensor = kNoTensor;
  bool has_bytes = false;
};

// The weights of R by row and column, and their places in the grid.
struct GridOfR {
  std::vector<float> values;
  int64_t directions, rows, hidden;

  explicit GridOfR(const HostTensor& r)
      : values(r.to_floats()), directions(r.shape()[0]), rows(r.shape()[1]), hidden(r.shape()[2]) {}

  int64_t height(bool has_scales) const { return directions * (slices(hidden) + (has_scales ? 1 : 0)); }
  float weight(int64_t row_of_all, int64_t k) const {
    return values[static_cast<size_t>(row_of_all * hidden + k)];
  }

  // Calls set(texel, channel of the texel, row of all directions, weight) for each weight.
  template <typename Set>
  void for_each(bool has_scales, const Set& set) const {
    for (int64_t row = 0; row < directions * rows; ++row)
      for (int64_t k = 0; k < hidden; ++k)
        set(texel(row, k / 4, has_scales), static_cast<size_t>(k % 4), row, weight(row, k));
  }
  // The texel of a row of all directions at texel `quad` of its columns; its scale is after the last.
  size_t texel(int64_t row, int64_t quad, bool has_scales) const {
    const int64_t first = row / rows * height(has_scales) / directions;
    return static_cast<size_t>((first + quad) * rows + row % rows);
  }

  std::vector<float> pack() const {
    std::vector<float> packed(static_cast<size_t>(height(false) * rows * 4), 0.0f);
    for_each(false, [&](size_t texel, size_t channel, int64_t, float value) {
      packed[4 * texel + channel] = value;
    });
    return packed;
  }
  std::vector<std::byte> pack_bytes(const ByteWeights& bytes) const {
    ByteTexels texels(static_cast<size_t>(height(true) * rows), bytes);
    for_each(true, [&](size_t texel, size_t channel, int64_t row, float value) {
      texels.set_weight(texel, channel, value, bytes.unit(row));
    });
    for (int64_t row = 0; row < directions * rows; ++row)
      texels.set_word(texel(row, slices(hidden), true), bytes.scale[static_cast<size_t>(row)]);
    return texels.take();
  }
};

PackedR pack_r(Lowering& lowering) {
  const auto grid = std::make_shared<const GridOfR>(*lowering.constant(1));
  const ByteWeightsPointer bytes =
      lowering.may_have_byte_weights()
          ? find_byte_weights(grid->directions * grid->rows, grid->hidden,
                              [&](int64_t row, int64_t k) { return grid->weight(row, k); })
          : nullptr;
  TensorDesc desc = lowering.texel_grid(static_cast<uint32_t>(grid->rows),
                                        static_cast<uint32_t>(grid->height(bytes != nullptr)));
  WeightValues values([grid] { return grid->pack(); });
  if (bytes) {
    desc = in_bytes(desc, *bytes);
    values.make_bytes = [grid, bytes] { return grid->pack_bytes(*bytes); };
  }
  return {lowering.weight(lowering.node().name + "/R", desc, std::move(values)), bytes != nullptr};
}

// An output of the node, and the tensor that the shader writes: it stores elements one by one, which is
// impossible for fp16 elements.
struct Result {
  TensorId written, output;
};

Result result_of(Lowering& lowering, size_t i) {
  const TensorId y = lowering.write(i, Layout::linear);
  TensorDesc desc = lowering.tensor(y).desc;
  if (desc.element != ElementType::f16) return {y, y};
  desc.element = ElementType::f32;
  return {lowering.workspace(lowering.node().name + "/floats " + std::to_string(i), desc), y};
}

// How the sequences of a layer are divided among workgroups, and its units among the invocations of one.
struct Division {
  int64_t sequences = 1;  // consecutive batches that a workgroup processes together
  int64_t workgroups = 1;
  int64_t units = 1;        // hidden units that an invocation computes together
  int64_t invocations = 1;  // of a workgroup
};

// On devices that any number of subgroups keeps busy, an invocation loads the state from shared memory once
// for several units, and the weights once for several sequences. Returns the number of units with which whole
// subgroups compute the fewest units beyond the last one, the greatest of several, and the greatest number of
// sequences that leaves a workgroup for each of kThreads threads of a processor.
Division divide_among_few(const DeviceCaps& caps, int64_t directions, int64_t batches, int64_t hidden,
                          int64_t most_sequences) {
  constexpr int64_t kMostUnits = 8, kMostSequences = 4, kThreads = 8;
  const int64_t lanes = subgroup_size(caps);
  Division division;
  int64_t least_computed = std::numeric_limits<int64_t>::max();
  for (int64_t units = 1; units <= kMostUnits; ++units) {
    const int64_t invocations = lanes * divide_up(divide_up(hidden, units), lanes);
    if (units * invocations > least_computed) continue;
    least_computed = units * invocations;
    division.units = units;
    division.invocations = invocations;
  }
  for (int64_t sequences = 2; sequences <= std::min(most_sequences, kMostSequences); ++sequences)
    if (directions * divide_up(batches, sequences) >= kThreads) division.sequences = sequences;
  return division;
}

Division divide_layer(const Lowering& lowering) {
  const DeviceCaps& caps = lowering.caps();
  const int64_t directions = lowering.op<Recurrence>().directions();
  const int64_t batches = lowering.input_type(0).shape[1], hidden = lowering.input_type(1).shape[2];
  const int64_t fit =
      int64_t{caps.max_shared_memory_bytes} / (kArrays * padded(std::max<int64_t>(hidden, 1)) * 4);
  const bool has_lengths = is_given(lowering, 3);  // the shader computes such sequences one by one
  // Where it takes many subgroups to keep the device busy, there is an invocation for each unit.
  Division division = device_traits(caps).subgroups_to_fill_a_unit == 0
                          ? divide_among_few(caps, directions, batches, hidden, has_lengths ? 1 : fit)
                          : Division{.invocations = 32 * divide_up(hidden, 32)};
  const auto most = std::min({256u, caps.max_workgroup_invocations, caps.max_workgroup_size[0]});
  division.invocations = std::clamp<int64_t>(division.invocations, least_workgroup_with_barriers(caps), most);
  division.workgroups = directions * divide_up(batches, division.sequences);
  return division;
}

Grid grid_of(const DeviceCaps& caps, const Division& division) {
  Grid grid = workgroups_in_a_row(caps, division.workgroups);
  grid.workgroup_size = {static_cast<uint32_t>(division.invocations), 1, 1};
  return grid;
}

// Returns the iterations of a loop over the sequences of a workgroup. A loop of one round is none.
uint64_t in_each_sequence(const Division& division, uint64_t iterations) {
  return division.sequences > 1 ? loop_iterations(division.sequences, iterations) : iterations;
}

// Returns the iterations of an invocation in one step: the products for its units, some at a time, and the
// copy of its state.
uint64_t iterations_of_step(const Division& division, RecurrentCell cell, int64_t hidden) {
  const int64_t times = divide_up(hidden, division.invocations * division.units);
  const uint64_t finished = in_each_sequence(division, loop_iterations(division.units));
  const uint64_t products = loop_iterations(times, loop_iterations(slices(hidden)) + finished);
  const uint64_t copies =
      in_each_sequence(division, loop_iterations(divide_up(hidden, division.invocations)));
  return 1 + (cell == RecurrentCell::gru ? 2 : 1) * products + copies;
}

// Returns the steps of a dispatch: all of them, or if the device would end the loops, as many as take half of
// its bound on iterations. If no bound is known, lavapipe's bound applies, because watchdogs of GPUs end long
// dispatches.
int64_t steps_of_dispatch(const DeviceCaps& caps, int64_t steps, uint64_t of_step) {
  const uint64_t most = std::min<uint64_t>(caps.max_loop_iterations, 65535);
  if (kShortLoops + static_cast<uint64_t>(steps) * (of_step + 1) <= most) return steps;
  return std::max<int64_t>(1, static_cast<int64_t>(most / 2 / (of_step + 1)));
}

// Returns a workspace for the state h or c between two dispatches.
TensorId carried_state(Lowering& lowering, const std::string& name, int64_t sequences, int64_t hidden) {
  return lowering.workspace(lowering.node().name + name,
                            {{sequences, hidden}, ElementType::f32, Storage::buffer, Layout::linear});
}

// Returns the buffers of a dispatch for some of the steps, which reads and writes states.
size_t buffers_of_part(const Lowering& lowering) {
  const size_t states = lowering.op<Recurrence>().cell == RecurrentCell::lstm ? 2 : 1;
  size_t count = 1 + 2 * states;  // with y
  for (const size_t i : {0, 1, 2, 3, 6}) count += is_given(lowering, i);
  return count;
}

// The bindings of a dispatch besides x, R and y, by the shader's names, and the macros that enable them.
struct BoundTensors {
  std::vector<Binding> read, written;
  std::vector<std::string> macros;

  void add_read(const char* name, const char* macro, TensorId tensor) {
    read.push_back(reads(name, tensor));
    macros.emplace_back(macro);
  }
  void add_written(const char* name, const char* macro, TensorId tensor) {
    written.push_back(writes(name, tensor));
    macros.emplace_back(macro);
  }
};

// The steps of one dispatch, and the states before and after them. kNoTensor: the initial or last states of
// the node.
struct Part {
  int64_t first_step = 0, end_step = 0;
  TensorId h_before = kNoTensor, c_before = kNoTensor, h_after = kNoTensor, c_after = kNoTensor;
};

// Binds the node's optional inputs. The states of the previous part replace the initial states.
void bind_reads(Lowering& lowering, BoundTensors& bound, const Part& part) {
  constexpr std::pair<const char*, const char*> kOptional[] = {{"candidate_bias", "CANDIDATE_BIAS"},
                                                               {"lengths", "LENGTHS"},
                                                               {"initial_h", "INITIAL_H"},
                                                               {"initial_c", "INITIAL_C"},
                                                               {"peepholes", "PEEPHOLES"}};
  for (size_t i = 0; i < std::size(kOptional); ++i) {
    const auto& [name, macro] = kOptional[i];
    const TensorId carried = i == 2 ? part.h_before : i == 3 ? part.c_before : kNoTensor;
    if (carried != kNoTensor)
      bound.add_read(name, macro, carried);
    else if (part.first_step == 0 || (i != 2 && i != 3)) {
      if (is_given(lowering, i + 2)) bound.add_read(name, macro, lowering.read(i + 2, Layout::linear));
    }
  }
}

void dispatch_part(Lowering& lowering, const Part& part, const PackedR& r, const std::vector<size_t>& outputs,
                   const std::vector<Result>& results) {
  const auto& op = lowering.op<Recurrence>();
  const Shape& products = lowering.input_type(0).shape;
  const int64_t hidden = lowering.input_type(1).shape[2];
  BoundTensors bound;
  bind_reads(lowering, bound, part);
  const bool is_last = part.end_step == products[0];
  for (size_t i = 0; is_last && i < outputs.size(); ++i) {
    if (outputs[i] == 1) bound.add_written("y_h", "STATE", results[i].written);
    if (outputs[i] == 2) bound.add_written("y_c", "CELL", results[i].written);
  }
  if (part.h_after != kNoTensor) bound.add_written("y_h", "STATE", part.h_after);
  if (part.c_after != kNoTensor) bound.add_written("y_c", "CELL", part.c_after);
  std::vector<Binding> bindings{reads("x", lowering.read(0, Layout::linear)), reads("r", r.tensor)};
  bindings.insert(bindings.end(), bound.read.begin(), bound.read.end());
  bindings.push_back(writes("y", results[0].written));
  bindings.insert(bindings.end(), bound.written.begin(), bound.written.end());
  const Division division = divide_layer(lowering);
  const Grid grid = grid_of(lowering.caps(), division);
  const auto [y_step, y_direction, y_batch] = op.y_strides(products[0], products[1]);
  Dispatch dispatch = make_dispatch("recurrence", grid, std::move(bindings),
                                    RecurrenceParameters{.activation_params = activation_params({}),
                                                         .steps = products[0],
                                                         .first_step = part.first_step,
                                                         .end_step = part.end_step,
                                                         .batches = products[1],
                                                         .directions = op.directions(),
                                                         .hidden = hidden,
                                                         .y_step = y_step,
                                                         .y_direction = y_direction,
                                                         .y_batch = y_batch,
                                                         .first_reversed = op.first_reversed,
                                                         .clip = op.clip,
                                                         .cell_clip = op.cell_clip});
  const int64_t steps = part.end_step - part.first_step;
  dispatch.macs = products[0] == 0
                      ? 0
                      : lowering.macs() * static_cast<uint64_t>(steps) / static_cast<uint64_t>(products[0]);
  const uint64_t of_step = iterations_of_step(division, op.cell, hidden);
  const int64_t units = divide_up(hidden, division.invocations);
  const uint64_t begin_and_finish =
      loop_iterations(units + 1) +
      (is_given(lowering, 3) ? loop_iterations(units, loop_iterations(steps)) : 2 * loop_iterations(units));
  dispatch.iterations =
      static_cast<uint64_t>(steps) * of_step + 1 + in_each_sequence(division, begin_and_finish);
  constexpr const char* kCells[] = {"CELL_RNN", "CELL_GRU", "CELL_LSTM"};
  define(dispatch, kCells[static_cast<size_t>(op.cell)]);
  constexpr const char* kFunctions[] = {"F", "G", "H"};
  for (size_t i = 0; i < std::size(kFunctions); ++i)
    define(dispatch, kFunctions[i], std::string(name(op.activations[0][i].kind)));
  if (division.units > 1) define(dispatch, "UNITS_AT_ONCE", std::to_string(division.units));
  if (division.sequences > 1) define(dispatch, "SEQUENCES", std::to_string(division.sequences));
  if (r.has_bytes) define(dispatch, "BYTE_WEIGHTS");
  define(dispatch, "UNITS", std::to_string(padded(hidden)));
  for (const std::string& macro : bound.macros) define(dispatch, macro);
  if (op.clip > 0) define(dispatch, "CLIP");
  if (op.cell_clip > 0) define(dispatch, "CELL_CLIP");
  if (op.input_forget) define(dispatch, "INPUT_FORGET");
  if (op.linear_before_reset) define(dispatch, "LINEAR_BEFORE_RESET");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_recurrence(Lowering& lowering) {
  if (const std::string why = why_on_host(lowering); !why.empty()) return lowering.run_on_host(why);
  const auto& op = lowering.op<Recurrence>();
  const Shape& products = lowering.input_type(0).shape;
  const int64_t hidden = lowering.input_type(1).shape[2], sequences = op.directions() * products[1];
  const Division division = divide_layer(lowering);
  const int64_t length =
      steps_of_dispatch(lowering.caps(), products[0], iterations_of_step(division, op.cell, hidden));
  if (length < products[0] && buffers_of_part(lowering) > lowering.caps().max_storage_buffers_per_stage)
    return lowering.run_on_host("a recurrent layer of " + std::to_string(products[0]) +
                                " steps has more tensors than the device's buffers");
  const PackedR r = pack_r(lowering);
  const std::vector<size_t> outputs = written_outputs(lowering);
  std::vector<Result> results;
  for (const size_t i : outputs) results.push_back(result_of(lowering, i));

  Part part;
  for (int64_t first = 0; first == 0 || first < products[0]; first += std::max<int64_t>(length, 1)) {
    part.first_step = first;
    part.end_step = std::min(first + length, products[0]);
    const bool is_last = part.end_step == products[0];
    const auto state = [&](const char* of) {
      return is_last ? kNoTensor
                     : carried_state(lowering, of + std::to_string(part.end_step), sequences, hidden);
    };
    part.h_after = state("/state ");
    part.c_after = op.cell == RecurrentCell::lstm ? state("/cell ") : kNoTensor;
    dispatch_part(lowering, part, r, outputs, results);
    part.h_before = part.h_after;
    part.c_before = part.c_after;
  }

  for (const auto& [written, output] : results) {
    if (written == output) continue;
    const Shape& shape = lowering.tensor(output).desc.shape;
    strided_copy(lowering, written, output, {shape, {row_major_strides(shape)}}, 0);
  }
}

}  // namespace vellum
