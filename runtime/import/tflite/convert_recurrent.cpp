// UNIDIRECTIONAL_SEQUENCE_LSTM: the LSTM of ONNX (graph/operators/matmul/recurrent.cpp), or that of integers
// (graph/operators/matmul/integer_lstm.hpp). Gates of the file: i, f, c, o; of ONNX: i, o, f, c.
#include <algorithm>
#include <array>
#include <cmath>

#include "graph/node_spec.hpp"
#include "graph/operators/matmul/integer_lstm.hpp"
#include "graph/operators/matmul/recurrence.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// The inputs of the operator. The gates of a group follow each other.
enum LstmInput : size_t {
  kX = 0,
  kInputWeights = 1,
  kStateWeights = 5,
  kPeepholes = 9,  // i, f, o
  kBiases = 12,
  kProjection = 16,
  kProjectionBias = 17,
  kOutputState = 18,
  kCellState = 19,
  kNorms = 20
};
constexpr size_t kGateOrder[] = {0, 3, 1, 2}, kPeepholeOrder[] = {0, 2, 1};

std::vector<float> constant_floats(const Call& call, size_t index, const Shape& shape) {
  const HostTensor* value = call.writer.constant(call.input(index));
  const std::string name = "input " + std::to_string(index);
  if (value == nullptr) refuse_unsupported(name + " is computed at run time");
  if (value->shape() != shape || !is_float(value->dtype()))
    refuse_model(name + " is " + to_string(value->type()) + ", expected float32 of " + to_string(shape));
  return value->to_floats();
}

// Weights, peepholes or biases of all gates, in ONNX's order. A layer without an input gate has i = 1 - f,
// and 1 - sigmoid(x) is sigmoid(-x): i has the negated values of f.
std::vector<float> gates(const Call& call, size_t first, std::span<const size_t> order, const Shape& shape,
                         bool couples) {
  std::vector<float> all;
  for (const size_t gate : order) {
    const bool is_coupled = couples && gate == 0;
    std::vector<float> values = constant_floats(call, first + (is_coupled ? 1 : gate), shape);
    if (is_coupled)
      for (float& value : values) value = -value;
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void refuse_unknown_forms(const Call& call, const schema::UnidirectionalSequenceLSTMOptions& options) {
  if (call.has_input(kProjection) || call.has_input(kProjectionBias))
    refuse_unsupported("an LSTM with a projection");
  for (size_t gate = 0; gate < 4; ++gate)
    if (call.has_input(kNorms + gate)) refuse_unsupported("an LSTM with layer normalisation");
  if (!(options.cell_clip() >= 0.0f))
    refuse_model("it clips cells to " + std::to_string(options.cell_clip()));
  if (options.diagonal_recurrent_tensors()) refuse_unsupported("an LSTM with diagonal matrices");
  if (options.activation() != schema::FusedActivation::tanh)
    refuse_unsupported("an LSTM with fused activation " +
                       std::to_string(static_cast<int>(options.activation())));
}

ValueId reshaped(const Call& call, ValueId value, Ints shape) {
  auto op = std::make_shared<Reshape>();
  op->shape = std::move(shape);
  return call.emit_inner(std::move(op), {value});
}

ValueId steps_and_batches_swapped(const Call& call, ValueId value) {
  auto op = std::make_shared<Transpose>();
  op->perm = Ints{1, 0, 2};
  return call.emit_inner(std::move(op), {value});
}

std::shared_ptr<const Operator> lstm(const std::vector<ValueId>& inputs, float cell_clip) {
  const Attributes none;
  return make_clipped_lstm(spec_of("LSTM", {}, 14, none, inputs, 3), cell_clip);
}

// Returns the inputs of ONNX's LSTM, but X.
std::vector<ValueId> parameters(const Call& call) {
  const Shape weights = call.writer.type(call.input(kInputWeights + 1)).shape;
  if (weights.size() != 2 || weights[0] < 1)
    refuse_model("weights of " + to_string(weights) + " are no matrix");
  const int64_t cells = weights[0], rows = checked_multiply(4, cells);
  const bool couples = !call.has_input(kInputWeights);
  const auto constant = [&](const char* name, Shape shape, const std::vector<float>& values) {
    return call.writer.add_constant(call.writer.name_of(call.output()) + name,
                                    HostTensor::f32(std::move(shape), values));
  };
  std::vector<float> biases = gates(call, kBiases, kGateOrder, {cells}, couples);
  biases.resize(2 * biases.size(), 0.0f);  // those of the state
  std::vector<ValueId> inputs{
      constant("_W", {1, rows, weights[1]}, gates(call, kInputWeights, kGateOrder, weights, couples)),
      constant("_R", {1, rows, cells}, gates(call, kStateWeights, kGateOrder, {cells, cells}, couples)),
      constant("_B", {1, checked_multiply(2, rows)}, biases), kNoValue};
  for (const size_t state : {kOutputState, kCellState})
    inputs.push_back(reshaped(call, call.writer.read_state(call.input(state)), {1, -1, cells}));
  if (call.has_input(kPeepholes + 1))
    inputs.push_back(
        constant("_P", {1, 3 * cells}, gates(call, kPeepholes, kPeepholeOrder, {cells}, couples)));
  return inputs;
}

bool is_stored_as(const Call& call, size_t index, DType stored) {
  const int32_t tensor = call.input(index);
  return call.writer.quantised(tensor) && call.writer.stored_type(tensor) == stored &&
         call.writer.scales_of(tensor).size() == 1;
}

// Returns whether the results of gates are in Q3.12, and the result before a projection, which there is none
// of, has the scale of the output.
bool has_scales_of_integers(const Call& call) {
  const auto* between = call.op.intermediates();
  if (between == nullptr || between->size() != 5) return false;
  const int32_t hidden = between->Get(4);
  const Writer& writer = call.writer;
  if (!writer.has_tensor(hidden) || !writer.quantised(hidden) || writer.stored_type(hidden) != DType::i8)
    return false;
  return writer.byte_scale(hidden) == writer.byte_scale(call.output()) &&
         writer.zero_point_of(hidden) == writer.zero_point_of(call.output());
}

// Returns whether LiteRT computes the layer in integers, with gates and cells of 16 bits.
bool is_of_integers(const Call& call) {
  if (!is_stored_as(call, kX, DType::i8) || !is_stored_as(call, kOutputState, DType::i8) ||
      !is_stored_as(call, kCellState, DType::i16) || call.has_input(kPeepholes + 1))
    return false;
  const auto state = call.writer.byte_scale(call.input(kOutputState)),
             y = call.writer.byte_scale(call.output());
  if (!state || !y || *state != *y ||
      call.writer.zero_point_of(call.input(kOutputState)) != call.writer.zero_point_of(call.output()))
    return false;
  if (!has_scales_of_integers(call)) return false;
  for (size_t gate = call.has_input(kInputWeights) ? 0 : 1; gate < IntegerLstm::kGates; ++gate)
    if (!is_stored_as(call, kInputWeights + gate, DType::i8) ||
        !is_stored_as(call, kStateWeights + gate, DType::i8) ||
        !is_stored_as(call, kBiases + gate, DType::i32))
      return false;
  return true;
}

// Returns constants of all gates, one after the other. A layer without an input gate has zeros there.
HostTensor constants_of_gates(const Call& call, size_t first, const Shape& shape, bool couples) {
  std::vector<float> all;
  for (size_t gate = 0; gate < IntegerLstm::kGates; ++gate) {
    if (couples && gate == 0) {
      all.resize(static_cast<size_t>(element_count(shape)), 0.0f);
      continue;
    }
    const std::vector<float> values = constant_floats(call, first + gate, shape);
    all.insert(all.end(), values.begin(), values.end());
  }
  Shape joined = shape;
  joined.insert(joined.begin(), static_cast<int64_t>(IntegerLstm::kGates));
  return HostTensor::f32(std::move(joined), all);
}

// Returns nothing if the step of the cell state is not a power of two that LiteRT supports.
std::shared_ptr<const IntegerLstm> integer_lstm(const Call& call, float cell_clip) {
  auto op = std::make_shared<IntegerLstm>();
  const auto scale = [&](size_t index) { return call.writer.scales_of(call.input(index))[0]; };
  op->x_step = scale(kX);
  op->state_step = scale(kOutputState);
  op->state_zero = call.writer.zero_point_of(call.input(kOutputState));
  const float cell_step = scale(kCellState), bits = -std::log2(cell_step);
  op->cell_bits = std::lround(bits);
  if (std::abs(bits - std::round(bits)) >= 1e-3f || op->cell_bits < 9 || op->cell_bits > 15) return nullptr;
  op->cell_clip = static_cast<int64_t>(std::min(cell_clip / cell_step, 32767.0f));
  op->couples = !call.has_input(kInputWeights);
  for (size_t gate = op->couples ? 1 : 0; gate < IntegerLstm::kGates; ++gate) {
    op->w_steps[gate] = scale(kInputWeights + gate);
    op->r_steps[gate] = scale(kStateWeights + gate);
  }
  return op;
}

bool emit_integer_lstm(const Call& call, const schema::UnidirectionalSequenceLSTMOptions& options) {
  if (!is_of_integers(call)) return false;
  const auto op = integer_lstm(call, options.cell_clip());
  const Shape weights = call.writer.type(call.input(kInputWeights + 1)).shape;
  if (op == nullptr || weights.size() != 2 || weights[0] < 1) return false;
  ValueId x = call.writer.in_file_order(call.input(kX));
  if (!options.time_major()) x = steps_and_batches_swapped(call, x);
  const int64_t cells = weights[0];
  const auto constant = [&](const char* name, size_t first, const Shape& shape) {
    return call.writer.add_constant(call.writer.name_of(call.output()) + name,
                                    constants_of_gates(call, first, shape, op->couples));
  };
  std::vector<ValueId> inputs{x};
  for (const size_t state : {kOutputState, kCellState})
    inputs.push_back(reshaped(call, call.writer.read_state(call.input(state)), {-1, cells}));
  inputs.push_back(constant("_W", kInputWeights, weights));
  inputs.push_back(constant("_R", kStateWeights, {cells, cells}));
  inputs.push_back(constant("_B", kBiases, {cells}));
  std::vector<ValueId> results;
  for (const char* name : {"_lstm", "_state", "_cell"})
    results.push_back(call.writer.add_value(call.writer.name_of(call.output()) + name));
  call.writer.add_node(op, inputs, results);
  for (size_t i = 0; i < 2; ++i) call.writer.write_state(call.input(kOutputState + i), results[1 + i]);
  if (options.time_major()) {
    call.emit(std::make_shared<Identity>(), {results[0]}, false);
    return true;
  }
  auto swap = std::make_shared<Transpose>();
  swap->perm = Ints{1, 0, 2};
  call.emit(std::move(swap), {results[0]}, false);
  return true;
}

}  // namespace

void convert_sequence_lstm(const Call& call) {
  const auto& options = call.required_options<schema::UnidirectionalSequenceLSTMOptions>();
  refuse_unknown_forms(call, options);
  if (emit_integer_lstm(call, options)) return;
  std::vector<ValueId> inputs = parameters(call);
  const int64_t cells = call.writer.type(call.input(kInputWeights + 1)).shape[0];
  ValueId x = call.writer.in_file_order(call.input(kX));
  if (!options.time_major()) x = steps_and_batches_swapped(call, x);
  inputs.insert(inputs.begin(), x);
  std::array<ValueId, 3> results{};
  for (ValueId& result : results)
    result = call.writer.add_value(call.writer.name_of(call.output()) + "_lstm");
  call.writer.add_node(lstm(inputs, options.cell_clip()), inputs, {results.begin(), results.end()});
  for (size_t i = 0; i < 2; ++i)
    call.writer.write_state(call.input(kOutputState + i), reshaped(call, results[1 + i], {-1, cells}));
  // (steps, 1, batches, cells)
  auto squeeze = std::make_shared<Squeeze>();
  squeeze->axes = Ints{1};
  if (options.time_major()) return call.emit(std::move(squeeze), {results[0]}, false);
  auto swap = std::make_shared<Transpose>();
  swap->perm = Ints{1, 0, 2};
  call.emit(std::move(swap), {call.emit_inner(std::move(squeeze), {results[0]})}, false);
}

}  // namespace vellum::tflite
