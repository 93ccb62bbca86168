// The steps of RNN, GRU and LSTM along a sequence.
#include "graph/operators/matmul/recurrence.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/framework/activation.hpp"
#include "kernels/framework/divide.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/movement/strided.hpp"
#include "shaders/matmul/recurrence.h"

namespace vellum {
namespace {

// The hidden units, padded to whole texels of R, and the arrays of them in shared memory.
int64_t padded(int64_t hidden) { return 4 * slices(hidden); }
constexpr int64_t kArrays = 4;

// ONNX's functions without parameters have one number for all in the shader.
bool has_parameters(const Activation& activation) {
  return activation.alpha != 0.0f || activation.beta != 0.0f || activation.is_scaled();
}

// Whether the shader reads input i. A state before the first step that is known to be zero, as exporters
// write it, is what the shader begins with anyway.
bool is_given(const Lowering& lowering, size_t i) {
  if (!lowering.has_input(i)) return false;
  const bool is_state = i == 4 || i == 5;
  const HostTensor* known = is_state ? lowering.constant(i) : nullptr;
  return !known || std::ranges::any_of(known->to_floats(), [](float value) { return value != 0.0f; });
}

// Y always; Y_h and Y_c where they are read, for some devices have four buffers only.
std::vector<size_t> written_outputs(const Lowering& lowering) {
  std::vector<size_t> outputs{0};
  const size_t count = lowering.op<Recurrence>().cell == RecurrentCell::lstm ? 3 : 2;
  for (size_t i = 1; i < count; ++i)
    if (lowering.is_read(i)) outputs.push_back(i);
  return outputs;
}

// Why there is no kernel for the node; empty where there is one.
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

// R, of four columns to a texel: rows along x, columns below each other, direction by direction.
TensorId pack_r(Lowering& lowering) {
  const HostTensor& r = *lowering.constant(1);
  const int64_t directions = r.shape()[0], rows = r.shape()[1], hidden = r.shape()[2];
  const int64_t quads = slices(hidden);
  auto make = [r = std::make_shared<HostTensor>(r), directions, rows, hidden, quads] {
    const std::vector<float> values = r->to_floats();
    std::vector<float> packed(static_cast<size_t>(directions * quads * rows * 4), 0.0f);
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t k = 0; k < hidden; ++k)
          packed[static_cast<size_t>(((d * quads + k / 4) * rows + row) * 4 + k % 4)] =
              values[static_cast<size_t>((d * rows + row) * hidden + k)];
    return packed;
  };
  return lowering.weight(
      lowering.node().name + "/R",
      lowering.texel_grid(static_cast<uint32_t>(rows), static_cast<uint32_t>(directions * quads)),
      std::move(make));
}

// An output, and what the shader writes: elements one by one, which halves cannot be.
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

Grid a_workgroup_to_each_walk(const DeviceCaps& caps, int64_t walks, int64_t hidden) {
  Grid grid = workgroups_in_a_row(caps, walks);
  const auto most = std::min({256u, caps.max_workgroup_invocations, caps.max_workgroup_size[0]});
  const auto wanted = static_cast<uint32_t>(std::min<int64_t>((hidden + 31) / 32 * 32, 256));
  grid.workgroup_size = {std::min(most, wanted), 1, 1};
  return grid;
}

}  // namespace

void lower_recurrence(Lowering& lowering) {
  if (const std::string why = why_on_host(lowering); !why.empty()) return lowering.run_on_host(why);
  const auto& op = lowering.op<Recurrence>();
  const Shape& products = lowering.input_type(0).shape;
  const int64_t hidden = lowering.input_type(1).shape[2];

  std::vector<Binding> bindings{reads("x", lowering.read(0, Layout::linear)), reads("r", pack_r(lowering))};
  constexpr std::pair<const char*, const char*> kOptional[] = {{"candidate_bias", "CANDIDATE_BIAS"},
                                                               {"lengths", "LENGTHS"},
                                                               {"initial_h", "INITIAL_H"},
                                                               {"initial_c", "INITIAL_C"},
                                                               {"peepholes", "PEEPHOLES"}};
  std::vector<std::string> macros;
  for (size_t i = 0; i < std::size(kOptional); ++i) {
    if (!is_given(lowering, i + 2)) continue;
    bindings.push_back(reads(kOptional[i].first, lowering.read(i + 2, Layout::linear)));
    macros.emplace_back(kOptional[i].second);
  }
  constexpr const char* kOutputs[] = {"y", "y_h", "y_c"};
  constexpr const char* kWritten[] = {"", "STATE", "CELL"};
  std::vector<Result> results;
  for (const size_t i : written_outputs(lowering)) {
    results.push_back(result_of(lowering, i));
    bindings.push_back(writes(kOutputs[i], results.back().written));
    if (i > 0) macros.emplace_back(kWritten[i]);
  }

  Dispatch dispatch = make_dispatch(
      "recurrence", a_workgroup_to_each_walk(lowering.caps(), op.directions() * products[1], hidden),
      std::move(bindings),
      RecurrenceParameters{.activation_params = activation_params({}),
                           .steps = products[0],
                           .batches = products[1],
                           .directions = op.directions(),
                           .hidden = hidden,
                           .first_reversed = op.first_reversed,
                           .clip = op.clip});
  dispatch.macs = lowering.macs();
  constexpr const char* kCells[] = {"CELL_RNN", "CELL_GRU", "CELL_LSTM"};
  define(dispatch, kCells[static_cast<size_t>(op.cell)]);
  constexpr const char* kFunctions[] = {"F", "G", "H"};
  for (size_t i = 0; i < std::size(kFunctions); ++i)
    define(dispatch, kFunctions[i], std::string(name(op.activations[0][i].kind)));
  define(dispatch, "UNITS", std::to_string(padded(hidden)));
  for (const std::string& macro : macros) define(dispatch, macro);
  if (op.clip > 0) define(dispatch, "CLIP");
  if (op.input_forget) define(dispatch, "INPUT_FORGET");
  if (op.linear_before_reset) define(dispatch, "LINEAR_BEFORE_RESET");
  lowering.dispatch(std::move(dispatch));

  for (const auto& [written, output] : results) {
    if (written == output) continue;
    const Shape& shape = lowering.tensor(output).desc.shape;
    strided_copy(lowering, written, output, {shape, {row_major_strides(shape)}}, 0);
  }
}

}  // namespace vellum
