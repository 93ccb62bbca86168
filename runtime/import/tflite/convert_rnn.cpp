// RNN, UNIDIRECTIONAL_SEQUENCE_RNN and SVDF, layers that keep their state in a tensor from one run to the
// next.
#include <array>

#include "graph/node_spec.hpp"
#include "graph/operator.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// The inputs of an RNN.
enum RnnInput : size_t { kRnnX, kRnnWeights, kRnnStateWeights, kRnnBias, kRnnState };

ValueId with_shape(const Call& call, ValueId value, Ints shape) {
  auto op = std::make_shared<Reshape>();
  op->shape = std::move(shape);
  return call.emit_inner(std::move(op), {value});
}

std::string rnn_activation(schema::FusedActivation activation) {
  if (activation == schema::FusedActivation::tanh) return "Tanh";
  if (activation == schema::FusedActivation::relu) return "Relu";
  refuse_unsupported("fused activation " + std::to_string(static_cast<int>(activation)));
}

// Returns weights of the file, with a first dimension for the direction.
ValueId rnn_weights(const Call& call, size_t index, const Shape& shape, Shape in_graph) {
  const HostTensor* value = call.writer.constant(call.input(index));
  const std::string name = "input " + std::to_string(index);
  if (value == nullptr) refuse_unsupported(name + " is computed at run time");
  if (value->shape() != shape || !is_float(value->dtype()))
    refuse_model(name + " is " + to_string(value->type()) + ", expected float32 of " + to_string(shape));
  std::vector<float> values = value->to_floats();
  values.resize(static_cast<size_t>(checked_element_count(in_graph)), 0.0f);  // a bias: that of the state
  return call.writer.add_constant(call.writer.name_of(call.input(index)) + "_weights",
                                  HostTensor::f32(std::move(in_graph), values));
}

// Emits the layer on x (steps, batches, width). Returns the results of all steps (steps, batches, cells).
ValueId emit_rnn(const Call& call, ValueId x, schema::FusedActivation activation) {
  if (call.writer.quantised(call.input(kRnnX))) refuse_unsupported("an RNN of integers");
  const Shape weights = call.writer.type(call.input(kRnnWeights)).shape;
  if (weights.size() != 2 || weights[0] < 1) refuse_model("weights of " + to_string(weights));
  const int64_t cells = weights[0];
  const ValueId state = with_shape(call, call.writer.read_state(call.input(kRnnState)), {1, -1, cells});
  const std::vector<ValueId> inputs{x,
                                    rnn_weights(call, kRnnWeights, weights, {1, cells, weights[1]}),
                                    rnn_weights(call, kRnnStateWeights, {cells, cells}, {1, cells, cells}),
                                    rnn_weights(call, kRnnBias, {cells}, {1, checked_multiply(2, cells)}),
                                    kNoValue,
                                    state};
  Attributes attributes;
  attributes.set("hidden_size", cells);
  attributes.set("activations", Attributes::Strings{rnn_activation(activation)});
  std::array<ValueId, 2> results{};
  for (ValueId& result : results) result = call.writer.add_value(call.writer.name_of(call.output()) + "_rnn");
  call.writer.add_node(make_operator(spec_of("RNN", {}, 14, attributes, inputs, 2)), inputs,
                       {results.begin(), results.end()});
  call.writer.write_state(call.input(kRnnState), with_shape(call, results[1], {-1, cells}));
  auto squeeze = std::make_shared<Squeeze>();
  squeeze->axes = Ints{1};
  return call.emit_inner(std::move(squeeze), {results[0]});
}

void refuse_other_rank(const Call& call, size_t rank) {
  if (call.writer.rank(call.input(0)) != rank)
    refuse_model("its input is " + to_string(call.writer.type(call.input(0)).shape));
}

}  // namespace

// One step of an RNN.
void convert_rnn(const Call& call) {
  refuse_other_rank(call, 2);
  auto unsqueeze = std::make_shared<Unsqueeze>();
  unsqueeze->axes = Ints{0};
  const ValueId x = call.emit_inner(std::move(unsqueeze), {call.writer.in_file_order(call.input(kRnnX))});
  const ValueId y = emit_rnn(call, x, call.required_options<schema::RNNOptions>().activation());
  auto squeeze = std::make_shared<Squeeze>();
  squeeze->axes = Ints{0};
  call.emit(std::move(squeeze), {y}, false);
}

void convert_sequence_rnn(const Call& call) {
  const auto& options = call.required_options<schema::SequenceRNNOptions>();
  refuse_other_rank(call, 3);
  ValueId x = call.writer.in_file_order(call.input(kRnnX));
  if (!options.time_major()) x = call.emit_transposed(x, {1, 0, 2});
  const ValueId y = emit_rnn(call, x, options.activation());
  if (options.time_major()) return call.emit(std::make_shared<Identity>(), {y}, false);
  auto swap = std::make_shared<Transpose>();
  swap->perm = Ints{1, 0, 2};
  call.emit(std::move(swap), {y}, false);
}

namespace {

// The inputs of an SVDF.
enum SvdfInput : size_t { kSvdfX, kFeatureWeights, kTimeWeights, kSvdfBias, kSvdfState };

// Rounds the newest entry of a state of 16 bits to its integers.
ValueId in_steps_of_state(const Call& call, ValueId value) {
  const int32_t state = call.input(kSvdfState);
  if (!call.writer.quantised(state)) return value;
  const auto scale = call.writer.grid_scale(state);
  if (!scale || call.writer.stored_type(state) != DType::i16 || call.writer.has_zero_points(state))
    refuse_unsupported("a state that has not 16 bits and one scale");
  auto round = std::make_shared<Unary>();
  round->activation = {.step = *scale, .least = -32768.0f, .most = 32767.0f, .ties_away = true};
  return call.emit_inner(std::move(round), {value});
}

// Returns the sums of `value` along its last dimension.
ValueId summed(const Call& call, ValueId value) {
  auto sum = std::make_shared<Reduce>();
  sum->kind = ReduceKind::sum;
  sum->axes = Ints{2};
  sum->keep_dims = false;
  return call.emit_inner(std::move(sum), {value});
}

}  // namespace

// Inputs x (batches, width), weights of features (filters, width), weights of time (filters, memory), bias,
// and the features of the last runs (batches, filters * memory). Each unit of the result is the sum of `rank`
// filters. https://research.google/pubs/pub43813, SVDF in tflite/kernels/internal/reference/svdf.h
void convert_svdf(const Call& call) {
  const auto& options = call.required_options<schema::SVDFOptions>();
  refuse_other_rank(call, 2);
  Writer& writer = call.writer;
  const Shape time = writer.type(call.input(kTimeWeights)).shape;
  const int64_t rank = options.rank();
  if (time.size() != 2 || time[0] < 1 || time[1] < 1 || rank < 1 || time[0] % rank != 0)
    refuse_model("rank " + std::to_string(rank) + " of weights of " + to_string(time));
  const int64_t filters = time[0], memory = time[1];
  const ValueId transposed = call.emit_transposed(writer.in_file_order(call.input(kFeatureWeights)), {1, 0});
  const ValueId feature =
      call.emit_inner(std::make_shared<MatMul>(), {writer.in_file_order(call.input(kSvdfX)), transposed});
  const ValueId newest = with_shape(call, in_steps_of_state(call, feature), {-1, filters, 1});
  const ValueId before = with_shape(call, writer.read_state(call.input(kSvdfState)), {-1, filters, memory});
  auto newer = std::make_shared<Slice>();
  newer->starts = Ints{0, 0, 1};
  newer->ends = Ints{INT64_MAX, INT64_MAX, INT64_MAX};
  auto concat = std::make_shared<Concat>();
  concat->axis = 2;
  const ValueId features =
      memory == 1 ? newest
                  : call.emit_inner(std::move(concat), {call.emit_inner(std::move(newer), {before}), newest});
  writer.write_state(call.input(kSvdfState),
                     with_shape(call, features, {-1, checked_multiply(filters, memory)}));
  const ValueId products = call.emit_inner(make_binary(BinaryKind::mul),
                                           {features, writer.in_file_order(call.input(kTimeWeights))});
  ValueId sums = summed(call, with_shape(call, summed(call, products), {-1, filters / rank, rank}));
  if (call.has_input(kSvdfBias))
    sums = call.emit_inner(make_binary(BinaryKind::add), {sums, writer.in_file_order(call.input(kSvdfBias))});
  // LiteRT's kernel of integers has no activation.
  const bool is_of_integers = writer.quantised(call.input(kSvdfX));
  call.emit(std::make_shared<Identity>(), {sums}, false,
            is_of_integers ? schema::FusedActivation::none : options.activation());
}

}  // namespace vellum::tflite
