// RNN, GRU and LSTM: one product of all inputs of the sequence, then a Recurrence (recurrence.hpp).
// https://onnx.ai/onnx/operators/onnx__LSTM.html, onnx__GRU.html, onnx__RNN.html
#include <algorithm>
#include <cctype>

#include "graph/composed.hpp"
#include "graph/operators/matmul/recurrence.hpp"

namespace vellum {
namespace {

// The activation functions of ONNX that Vellum supports. Parameters that a function lacks are 0.
struct Function {
  std::string_view name;  // in lower case
  ActivationKind kind;
  bool has_alpha = false, has_beta = false;
  float alpha = 0.0f, beta = 0.0f;
};
constexpr Function kFunctions[] = {
    {"relu", ActivationKind::relu},
    {"tanh", ActivationKind::tanh},
    {"sigmoid", ActivationKind::sigmoid},
    {"softsign", ActivationKind::softsign},
    {"softplus", ActivationKind::softplus},
    {"leakyrelu", ActivationKind::leaky_relu, true, false, 0.01f},
    {"thresholdedrelu", ActivationKind::thresholded_relu, true, false, 1.0f},
    {"elu", ActivationKind::elu, true, false, 1.0f},
    {"hardsigmoid", ActivationKind::hard_sigmoid, true, true, 0.2f, 0.5f},
};

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

const Function& function_of(const std::string& name) {
  const std::string wanted = lower_case(name);
  for (const Function& function : kFunctions)
    if (function.name == wanted) return function;
  refuse_unsupported("activation '" + name + "'");
}

// Takes the next value of a list, which has values only for functions with the parameter.
float next(const Attributes::Floats& values, size_t& at, float otherwise) {
  return at < values.size() ? values[at++] : otherwise;
}

std::vector<Recurrence::Activations> activations_of(const Attributes& attributes, RecurrentCell cell,
                                                    size_t directions) {
  const size_t count = cell == RecurrentCell::lstm ? 3 : cell == RecurrentCell::gru ? 2 : 1;
  Attributes::Strings names = attributes.get_strings("activations");
  if (names.empty()) {
    Attributes::Strings defaults{"Sigmoid", "Tanh", "Tanh"};
    if (cell == RecurrentCell::rnn) defaults = {"Tanh"};
    defaults.resize(count);
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != count * directions)
    refuse_model(std::to_string(names.size()) + " activations in place of " +
                 std::to_string(count * directions));
  const Attributes::Floats alphas = attributes.get_floats("activation_alpha"),
                           betas = attributes.get_floats("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Recurrence::Activations> result(directions);
  for (size_t i = 0; i < names.size(); ++i) {
    const Function& function = function_of(names[i]);
    Activation& activation = result[i / count][i % count];
    activation.kind = function.kind;
    if (function.has_alpha) activation.alpha = next(alphas, alpha, function.alpha);
    if (function.has_beta) activation.beta = next(betas, beta, function.beta);
  }
  return result;
}

struct Layer {
  std::shared_ptr<const Recurrence> recurrence;
  int64_t hidden = 0;        // the attribute hidden_size; 0: not given
  bool batch_first = false;  // the attribute layout is 1
  size_t outputs() const { return recurrence->cell == RecurrentCell::lstm ? 3 : 2; }
};

// The sizes of a layer, after a check that X (steps first), W and R match.
struct LayerSizes {
  int64_t steps, batches, inputs, directions, rows, hidden;  // rows: of all gates of a direction
};

LayerSizes sizes_of(const Body& body, const Layer& layer, ValueId x) {
  const Recurrence& op = *layer.recurrence;
  const Shape sequence = body.shape(x), w = body.shape(body.input(1, "W")),
              r = body.shape(body.input(2, "R"));
  if (sequence.size() != 3 || r.size() != 3 || w != Shape{op.directions(), r[1], sequence[2]})
    refuse_model("X of shape " + to_string(sequence) + ", W of shape " + to_string(w) + " and R of shape " +
                 to_string(r) + " do not go together");
  if (r[1] != checked_multiply(op.gates(), r[2]))
    refuse_model("R has shape " + to_string(r) + " for " + std::to_string(op.gates()) + " gates");
  if (layer.hidden != 0 && layer.hidden != r[2])
    refuse_model("hidden_size is " + std::to_string(layer.hidden) + ", R has shape " + to_string(r));
  return {sequence[0], sequence[1], sequence[2], op.directions(), r[1], r[2]};
}

// The biases of input and state are added to the products of the inputs. An exception is the state bias of a
// GRU's candidate gate if r scales it.
struct Biases {
  ValueId products, candidate = kNoValue;
};

Biases biases_of(Body& body, const Recurrence& op, const LayerSizes& sizes) {
  const ValueId b = body.input(3, "B");
  const int64_t rows = sizes.rows, hidden = sizes.hidden;
  if (body.shape(b) != Shape{sizes.directions, checked_multiply(2, rows)})
    refuse_model("B has shape " + to_string(body.shape(b)));
  const auto part = [&](int64_t begin, int64_t end) { return body.slice(b, 1, begin, end); };
  if (!op.linear_before_reset) return {body.add("Add", {part(0, rows), part(rows, 2 * rows)})};
  const ValueId gates = body.add("Add", {part(0, 2 * hidden), part(rows, rows + 2 * hidden)});
  return {body.add("Concat", {gates, part(2 * hidden, rows)}, {{"axis", int64_t{1}}}),
          part(rows + 2 * hidden, 2 * rows)};
}

// initial_h or initial_c with the directions first; none: zeros.
ValueId initial(Body& body, const Layer& layer, size_t i) {
  const ValueId value = body.optional_input(i);
  return value != kNoValue && layer.batch_first ? body.transpose(value, {1, 0, 2}) : value;
}

std::vector<ValueId> walk(Body& body, const Layer& layer, const LayerSizes& sizes, ValueId x) {
  const auto [steps, batches, width, directions, rows, hidden] = sizes;
  const int64_t columns = checked_multiply(directions, rows);
  const ValueId matrix = body.transpose(body.reshape(body.input(1, "W"), {columns, width}), {1, 0});
  ValueId products = body.add("MatMul", {body.reshape(x, {checked_multiply(steps, batches), width}), matrix});
  Biases biases{kNoValue};
  if (body.has_input(3)) {
    biases = biases_of(body, *layer.recurrence, sizes);
    products = body.add("Add", {products, body.reshape(biases.products, {columns})});
  }
  return body.add_several(
      layer.recurrence,
      {body.reshape(products, {steps, batches, columns}), body.input(2, "R"), biases.candidate,
       body.optional_input(4), initial(body, layer, 5), initial(body, layer, 6), body.optional_input(7)},
      layer.outputs());
}

// A sequence without steps leaves the state unchanged.
std::vector<ValueId> stand_still(Body& body, const Layer& layer, const LayerSizes& sizes, ValueId x) {
  const DType dtype = body.type(x).dtype;
  std::vector<ValueId> results{
      body.constant(HostTensor(dtype, {0, sizes.directions, sizes.batches, sizes.hidden}))};
  while (results.size() < layer.outputs()) {
    const ValueId state = initial(body, layer, results.size() + 4);
    results.push_back(state != kNoValue ? state
                                        : body.constant(HostTensor(
                                              dtype, {sizes.directions, sizes.batches, sizes.hidden})));
  }
  return results;
}

void recurrent(Body& body, const Layer& layer) {
  ValueId x = body.input(0, "X");
  if (layer.batch_first && body.shape(x).size() == 3) x = body.transpose(x, {1, 0, 2});
  const LayerSizes sizes = sizes_of(body, layer, x);
  const std::vector<ValueId> results =
      sizes.steps == 0 ? stand_still(body, layer, sizes, x) : walk(body, layer, sizes, x);
  for (size_t i = 0; i < results.size(); ++i) {
    const Ints order = i == 0 ? Ints{2, 0, 1, 3} : Ints{1, 0, 2};
    body.output(layer.batch_first ? body.transpose(results[i], order) : results[i]);
  }
}

std::shared_ptr<const Operator> make_recurrent(const NodeSpec& spec, RecurrentCell cell,
                                               float cell_clip = 0.0f) {
  const Attributes& attributes = *spec.attributes;
  auto op = std::make_shared<Recurrence>();
  op->cell = cell;
  const std::string direction = attributes.get_string("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    refuse_model("direction '" + direction + "' is unknown");
  op->activations = activations_of(attributes, cell, direction == "bidirectional" ? 2 : 1);
  op->first_reversed = direction == "reverse";
  op->clip = attributes.get_float("clip", 0.0f);
  op->cell_clip = cell_clip;
  op->input_forget = cell == RecurrentCell::lstm && get_flag(attributes, "input_forget", false);
  op->linear_before_reset = cell == RecurrentCell::gru && get_flag(attributes, "linear_before_reset", false);
  const Layer layer{std::move(op), attributes.get_int("hidden_size", 0),
                    get_flag(attributes, "layout", false)};
  return composed(spec, [layer](Body& body) { recurrent(body, layer); });
}

}  // namespace

std::shared_ptr<const Operator> make_rnn(const NodeSpec& spec) {
  return make_recurrent(spec, RecurrentCell::rnn);
}
std::shared_ptr<const Operator> make_gru(const NodeSpec& spec) {
  return make_recurrent(spec, RecurrentCell::gru);
}
std::shared_ptr<const Operator> make_lstm(const NodeSpec& spec) {
  return make_recurrent(spec, RecurrentCell::lstm);
}
std::shared_ptr<const Operator> make_clipped_lstm(const NodeSpec& spec, float cell_clip) {
  return make_recurrent(spec, RecurrentCell::lstm, cell_clip);
}

}  // namespace vellum
