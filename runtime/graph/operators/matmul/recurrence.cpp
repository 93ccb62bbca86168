#include "graph/operators/matmul/recurrence.hpp"

#include <algorithm>
#include <string>

namespace vellum {
namespace {

// The inputs.
enum class In : size_t { products, r, candidate_bias, lengths, initial_h, initial_c, peepholes };
constexpr size_t at(In input) { return static_cast<size_t>(input); }

struct WalkSizes {
  int64_t steps, batches, directions, hidden, gates;
  int64_t row() const { return gates * hidden; }
};

WalkSizes sizes_of(const Recurrence& op, const Shape& products, const Shape& r) {
  const int64_t gates = op.gates(), directions = op.directions();
  if (products.size() != 3 || r.size() != 3 || r[0] != directions || r[1] != checked_multiply(gates, r[2]) ||
      products[2] != checked_multiply(directions, r[1]))
    refuse_model("its input of shape " + to_string(products) + " and R of shape " + to_string(r) +
                 " do not go together");
  return {products[0], products[1], directions, r[2], gates};
}

void require_shape(Inputs inputs, size_t i, std::string_view what, const Shape& shape) {
  if (!has_input(inputs, i)) return;
  const Shape& is = inputs[i].type.shape;
  if (is != shape)
    refuse_model(std::string(what) + " has shape " + to_string(is) + " in place of " + to_string(shape));
}

// The computation of one batch in one direction, step by step.
class Walk {
 public:
  Walk(const Recurrence& op, const WalkSizes& sizes, size_t direction)
      : op_(op), functions_(op.activations[direction]), hidden_(static_cast<size_t>(sizes.hidden)) {}

  const float* r = nullptr;               // GH x H
  const float* candidate_bias = nullptr;  // H; null: none
  const float* peepholes = nullptr;       // i, o, f; null: none
  std::vector<float> h, c;

  // `products` of the gates at one step.
  void step(const float* products) {
    switch (op_.cell) {
      case RecurrentCell::rnn:
        return step_rnn(products);
      case RecurrentCell::gru:
        return step_gru(products);
      case RecurrentCell::lstm:
        return step_lstm(products);
    }
  }

 private:
  double recurrent(size_t gate, size_t unit, const std::vector<float>& state) const {
    const float* row = r + (gate * hidden_ + unit) * hidden_;
    double sum = 0;
    for (size_t k = 0; k < hidden_; ++k) sum += static_cast<double>(row[k]) * state[k];
    return sum;
  }
  float call(size_t function, double x) const {
    auto argument = static_cast<float>(x);
    if (op_.clip > 0) argument = std::clamp(argument, -op_.clip, op_.clip);
    return apply(functions_[function], argument);
  }

  void step_rnn(const float* products) {
    std::vector<float> next(hidden_);
    for (size_t j = 0; j < hidden_; ++j) next[j] = call(0, products[j] + recurrent(0, j, h));
    h = next;
  }

  void step_gru(const float* products) {
    std::vector<float> z(hidden_), reset(hidden_), gated(hidden_), next(hidden_);
    for (size_t j = 0; j < hidden_; ++j) {
      z[j] = call(0, products[j] + recurrent(0, j, h));
      reset[j] = call(0, products[hidden_ + j] + recurrent(1, j, h));
      gated[j] = reset[j] * h[j];
    }
    for (size_t j = 0; j < hidden_; ++j) {
      const double bias = candidate_bias ? candidate_bias[j] : 0.0f;
      const double state =
          op_.linear_before_reset ? reset[j] * (recurrent(2, j, h) + bias) : recurrent(2, j, gated) + bias;
      next[j] = (1.0f - z[j]) * call(1, products[2 * hidden_ + j] + state) + z[j] * h[j];
    }
    h = next;
  }

  void step_lstm(const float* products) {
    std::vector<float> next(hidden_);
    for (size_t j = 0; j < hidden_; ++j) {
      const auto gate = [&](size_t g) { return products[g * hidden_ + j] + recurrent(g, j, h); };
      const auto peephole = [&](size_t p, float cell) {
        return peepholes ? static_cast<double>(peepholes[p * hidden_ + j]) * cell : 0.0;
      };
      const float i = call(0, gate(0) + peephole(0, c[j]));
      const float f = op_.input_forget ? 1.0f - i : call(0, gate(2) + peephole(2, c[j]));
      c[j] = f * c[j] + i * call(1, gate(3));
      if (op_.cell_clip > 0) c[j] = std::clamp(c[j], -op_.cell_clip, op_.cell_clip);
      next[j] = call(0, gate(1) + peephole(1, c[j])) * apply(functions_[2], c[j]);
    }
    h = next;
  }

  const Recurrence& op_;
  const Recurrence::Activations& functions_;
  size_t hidden_;
};

std::vector<float> floats_of(HostInputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] ? inputs[i]->to_floats() : std::vector<float>();
}
const float* part(const std::vector<float>& values, int64_t offset) {
  return values.empty() ? nullptr : values.data() + offset;
}

}  // namespace

Shape Recurrence::y_shape(int64_t steps, int64_t batches, int64_t hidden) const {
  const Shape plain{steps, directions(), batches, hidden};
  Shape shape;
  for (const size_t dimension : y_order) shape.push_back(plain[dimension]);
  return shape;
}

std::array<int64_t, 3> Recurrence::y_strides(int64_t steps, int64_t batches) const {
  const Shape shape = y_shape(steps, batches, 1);
  std::array<int64_t, 3> strides{};
  int64_t stride = 1;
  for (size_t i = strides.size(); i-- > 0; stride *= shape[i]) strides[y_order[i]] = stride;
  return strides;
}

std::vector<TensorType> Recurrence::infer(Inputs inputs) const {
  const TensorType& products = float_input_type(inputs, at(In::products), "X");
  const auto [steps, batches, directions, hidden, gates] =
      sizes_of(*this, products.shape, float_input_type(inputs, at(In::r), "R").shape);
  require_shape(inputs, at(In::candidate_bias), "B", {directions, hidden});
  require_shape(inputs, at(In::lengths), "sequence_lens", {batches});
  require_shape(inputs, at(In::initial_h), "initial_h", {directions, batches, hidden});
  require_shape(inputs, at(In::initial_c), "initial_c", {directions, batches, hidden});
  require_shape(inputs, at(In::peepholes), "P", {directions, checked_multiply(3, hidden)});
  const TensorType state{products.dtype, {directions, batches, hidden}};
  std::vector<TensorType> types{{products.dtype, y_shape(steps, batches, hidden)}, state};
  if (cell == RecurrentCell::lstm) types.push_back(state);
  return types;
}

std::vector<HostTensor> Recurrence::evaluate(HostInputs inputs) const {
  const std::vector<TensorType> types = infer_known(*this, inputs);
  const WalkSizes sizes =
      sizes_of(*this, inputs[at(In::products)]->type().shape, inputs[at(In::r)]->type().shape);
  const auto [steps, batches, directions, hidden, gates] = sizes;
  std::vector<std::vector<float>> values(at(In::peepholes) + 1);
  for (const size_t i : {at(In::products), at(In::r), at(In::candidate_bias), at(In::initial_h),
                         at(In::initial_c), at(In::peepholes)})
    values[i] = floats_of(inputs, i);
  Ints lengths(static_cast<size_t>(batches), steps);
  if (inputs.size() > at(In::lengths) && inputs[at(In::lengths)])
    lengths = inputs[at(In::lengths)]->to_ints();

  std::vector<float> y(static_cast<size_t>(element_count(types[0].shape))), y_h, y_c;
  const auto [y_step, y_direction, y_batch] = y_strides(steps, batches);
  for (int64_t d = 0; d < directions; ++d) {
    for (int64_t b = 0; b < batches; ++b) {
      const int64_t length = lengths[static_cast<size_t>(b)];
      if (length < 0 || length > steps) refuse_model("sequence_lens holds " + std::to_string(length));
      Walk walk(*this, sizes, static_cast<size_t>(d));
      walk.r = part(values[at(In::r)], d * sizes.row() * hidden);
      walk.candidate_bias = part(values[at(In::candidate_bias)], d * hidden);
      walk.peepholes = part(values[at(In::peepholes)], d * 3 * hidden);
      const int64_t state = (d * batches + b) * hidden;
      const auto initial = [&, size = hidden](size_t i) {  // Clang 14 captures no structured binding
        const float* first = part(values[i], state);
        return first ? std::vector<float>(first, first + size)
                     : std::vector<float>(static_cast<size_t>(size));
      };
      walk.h = initial(at(In::initial_h));
      walk.c = initial(at(In::initial_c));
      for (int64_t step = 0; step < length; ++step) {
        const int64_t t = reversed(static_cast<size_t>(d)) ? length - 1 - step : step;
        walk.step(values[at(In::products)].data() + ((t * batches + b) * directions + d) * sizes.row());
        std::ranges::copy(walk.h, y.begin() + (t * y_step + d * y_direction + b * y_batch) * hidden);
      }
      y_h.insert(y_h.end(), walk.h.begin(), walk.h.end());
      y_c.insert(y_c.end(), walk.c.begin(), walk.c.end());
    }
  }
  std::vector<HostTensor> results{HostTensor::from<float>(types[0].dtype, types[0].shape, y),
                                  HostTensor::from<float>(types[1].dtype, types[1].shape, y_h)};
  if (cell == RecurrentCell::lstm)
    results.push_back(HostTensor::from<float>(types[2].dtype, types[2].shape, y_c));
  return results;
}

uint64_t Recurrence::macs(Inputs inputs) const {
  return saturating_multiply(static_cast<uint64_t>(element_count(inputs[at(In::products)].type.shape)),
                             static_cast<uint64_t>(inputs[at(In::r)].type.shape[2]));
}

Attributes Recurrence::attributes() const {
  constexpr const char* kCells[] = {"rnn", "gru", "lstm"};
  Attributes result;
  result.set("cell", std::string(kCells[static_cast<size_t>(cell)]));
  result.set("direction", std::string(directions() == 2 ? "bidirectional"
                                      : first_reversed  ? "reverse"
                                                        : "forward"));
  if (clip > 0) result.set("clip", clip);
  if (cell_clip > 0) result.set("cell_clip", cell_clip);
  if (input_forget) result.set("input_forget", int64_t{1});
  if (linear_before_reset) result.set("linear_before_reset", int64_t{1});
  if (!std::ranges::is_sorted(y_order)) result.set("y_order", Ints(y_order.begin(), y_order.end()));
  return result;
}

std::shared_ptr<const Operator> make_recurrence(const NodeSpec&) {
  refuse_model("Recurrence is no operator of models: only a pass makes it");
}

}  // namespace vellum
