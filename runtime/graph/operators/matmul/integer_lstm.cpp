#include "graph/operators/matmul/integer_lstm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/operators/elementwise/fixed_functions.hpp"
#include "graph/operators/elementwise/short_fixed_functions.hpp"

namespace vellum {
namespace {

enum IntegerGate : size_t { kInputGate, kForgetGate, kCellGate, kOutputGate };
constexpr double kGateStep = 0x1p-12;

int16_t as_short(int32_t x) { return static_cast<int16_t>(std::clamp(x, -32768, 32767)); }

std::vector<int32_t> integers_of(const HostTensor& tensor, float step) {
  std::vector<int32_t> result;
  for (const float value : tensor.to_floats()) result.push_back(integer_of(value, step));
  return result;
}

HostTensor as_reals(const Shape& shape, std::span<const int32_t> integers, float step) {
  std::vector<float> values;
  for (const int32_t integer : integers) values.push_back(static_cast<float>(integer) * step);
  return HostTensor::f32(shape, values);
}

// The matrices of a gate, and the multipliers of their products.
struct IntegerGateWeights {
  std::span<const int32_t> w, r, bias;
  FixedMultiplier of_w, of_r;
};

int32_t dot(std::span<const int32_t> a, std::span<const int32_t> b) {
  uint32_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<uint32_t>(a[i] * b[i]);
  return static_cast<int32_t>(sum);
}

// One layer, whose states advance with each step.
class IntegerLayer {
 public:
  IntegerLayer(const IntegerLstm& op, HostInputs inputs)
      : op_(op),
        batches_(static_cast<size_t>(inputs[IntegerLstm::kState]->shape()[0])),
        cells_(static_cast<size_t>(inputs[IntegerLstm::kState]->shape()[1])),
        width_(static_cast<size_t>(inputs[IntegerLstm::kX]->shape()[2])),
        x_(integers_of(*inputs[IntegerLstm::kX], op.x_step)),
        state_(integers_of(*inputs[IntegerLstm::kState], op.state_step)),
        cell_(integers_of(*inputs[IntegerLstm::kCells], cell_step())) {
    const auto part = [](const HostTensor& tensor, size_t gate) {
      const std::vector<float> all = tensor.to_floats();
      const size_t count = all.size() / IntegerLstm::kGates;
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(gate * count);
      return HostTensor::f32({static_cast<int64_t>(count)},
                             std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count)));
    };
    for (size_t gate = 0; gate < IntegerLstm::kGates; ++gate) {
      const float w_step = op.w_steps[gate], r_step = op.r_steps[gate];
      w_.push_back(integers_of(part(*inputs[IntegerLstm::kWeights], gate), w_step));
      r_.push_back(integers_of(part(*inputs[IntegerLstm::kStateWeights], gate), r_step));
      bias_.push_back(integers_of(part(*inputs[IntegerLstm::kBiases], gate), op.x_step * w_step));
      gates_.push_back(
          {w_[gate], r_[gate], bias_[gate],
           fixed_multiplier(static_cast<double>(w_step * op.x_step / static_cast<float>(kGateStep))),
           fixed_multiplier(static_cast<double>(r_step * op.state_step / static_cast<float>(kGateStep)))});
    }
    const double hidden = std::ldexp(std::ldexp(1.0, -15) / static_cast<double>(op.state_step), -15);
    to_state_ = fixed_multiplier(static_cast<double>(static_cast<float>(hidden)));
  }

  float cell_step() const { return static_cast<float>(std::ldexp(1.0, static_cast<int>(-op_.cell_bits))); }
  const std::vector<int32_t>& state() const { return state_; }
  const std::vector<int32_t>& cell() const { return cell_; }

  void step(size_t index) {
    std::vector<int32_t> next(state_.size());
    for (size_t batch = 0; batch < batches_; ++batch)
      for (size_t c = 0; c < cells_; ++c) {
        const std::span x = std::span(x_).subspan((index * batches_ + batch) * width_, width_);
        const size_t at = batch * cells_ + c;
        cell_[at] = next_cell(x, batch, c);
        const int32_t output = logistic_of_short(sums(kOutputGate, x, batch, c));
        const auto whole_bits = static_cast<int32_t>(15 - op_.cell_bits);
        const int32_t product = output * tanh_of_short(static_cast<int16_t>(cell_[at]), whole_bits);
        const auto zero = static_cast<int32_t>(op_.state_zero);
        next[at] = std::clamp(multiply(product, to_state_) + zero, -128, 127) - zero;
      }
    state_ = std::move(next);
  }

 private:
  // Returns the sums of a gate in Q3.12.
  int16_t sums(IntegerGate gate, std::span<const int32_t> x, size_t batch, size_t c) const {
    const IntegerGateWeights& weights = gates_[gate];
    const auto of_x =
        static_cast<int32_t>(static_cast<uint32_t>(weights.bias[c]) +
                             static_cast<uint32_t>(dot(weights.w.subspan(c * width_, width_), x)));
    const int32_t first = as_short(multiply(of_x, weights.of_w));
    const std::span state = std::span(state_).subspan(batch * cells_, cells_);
    return as_short(first + multiply(dot(weights.r.subspan(c * cells_, cells_), state), weights.of_r));
  }

  int32_t next_cell(std::span<const int32_t> x, size_t batch, size_t c) const {
    const int32_t forget = logistic_of_short(sums(kForgetGate, x, batch, c));
    const int32_t input = op_.couples ? 32767 - forget : logistic_of_short(sums(kInputGate, x, batch, c));
    const int32_t candidate = tanh_of_short(sums(kCellGate, x, batch, c), 3);
    const int32_t kept = rounding_shift(forget * cell_[batch * cells_ + c], 15);
    const auto shift = static_cast<int32_t>(30 - op_.cell_bits);
    const int32_t sum =
        as_short(static_cast<int16_t>(kept) + static_cast<int16_t>(rounding_shift(input * candidate, shift)));
    const auto clip = static_cast<int32_t>(op_.cell_clip);
    return clip > 0 ? std::clamp(sum, -clip, clip) : sum;
  }

  const IntegerLstm& op_;
  size_t batches_, cells_, width_;
  std::vector<int32_t> x_, state_, cell_;
  std::vector<std::vector<int32_t>> w_, r_, bias_;
  std::vector<IntegerGateWeights> gates_;
  FixedMultiplier to_state_;
};

void expect_shape(Inputs inputs, size_t i, std::string_view what, const Shape& shape) {
  const TensorType& type = float_input_type(inputs, i, what);
  if (type.shape != shape)
    refuse_model(std::string(what) + " is " + to_string(type) + ", expected " + to_string(shape));
}

}  // namespace

std::vector<TensorType> IntegerLstm::infer(Inputs inputs) const {
  const Shape x = float_input_type(inputs, kX, "X").shape,
              state = float_input_type(inputs, kState, "state").shape;
  if (x.size() != 3 || state.size() != 2 || x[1] != state[0])
    refuse_model("X of " + to_string(x) + " does not fit a state of " + to_string(state));
  const auto gates = static_cast<int64_t>(kGates), cells = state[1];
  expect_shape(inputs, kCells, "the cell state", state);
  expect_shape(inputs, kWeights, "the weights", {gates, cells, x[2]});
  expect_shape(inputs, kStateWeights, "the weights of the state", {gates, cells, cells});
  expect_shape(inputs, kBiases, "the biases", {gates, cells});
  return {{DType::f32, {x[0], x[1], cells}}, {DType::f32, state}, {DType::f32, state}};
}

std::vector<HostTensor> IntegerLstm::evaluate(HostInputs inputs) const {
  const std::vector<TensorType> types = infer_known(*this, inputs);
  IntegerLayer layer(*this, inputs);
  std::vector<int32_t> y;
  for (int64_t step = 0; step < types[0].shape[0]; ++step) {
    layer.step(static_cast<size_t>(step));
    y.insert(y.end(), layer.state().begin(), layer.state().end());
  }
  return {as_reals(types[0].shape, y, state_step), as_reals(types[1].shape, layer.state(), state_step),
          as_reals(types[2].shape, layer.cell(), layer.cell_step())};
}

uint64_t IntegerLstm::work(Inputs inputs, Outputs outputs) const {
  const Shape &x = inputs[kX].type.shape, &state = inputs[kState].type.shape;
  const int64_t terms = checked_multiply(static_cast<int64_t>(kGates), checked_add(x[2], state[1]));
  return static_cast<uint64_t>(checked_multiply(element_count(outputs[0].shape), terms));
}

Attributes IntegerLstm::attributes() const {
  Attributes result;
  result.set("x_step", x_step);
  result.set("state_step", state_step);
  result.set("state_zero", state_zero);
  result.set("cell_bits", cell_bits);
  result.set("cell_clip", cell_clip);
  result.set("couples", int64_t{couples});
  result.set("w_steps", w_steps);
  result.set("r_steps", r_steps);
  return result;
}

std::shared_ptr<const Operator> make_integer_lstm(const NodeSpec& spec) {
  const Attributes& given = *spec.attributes;
  auto op = std::make_shared<IntegerLstm>();
  op->x_step = given.get_float("x_step", 1.0f);
  op->state_step = given.get_float("state_step", 1.0f);
  op->state_zero = given.get_int("state_zero", 0);
  op->cell_bits = given.get_int("cell_bits", 11);
  op->cell_clip = given.get_int("cell_clip", 0);
  op->couples = given.get_int("couples", 0) != 0;
  op->w_steps = given.get_floats("w_steps", op->w_steps);
  op->r_steps = given.get_floats("r_steps", op->r_steps);
  if (op->w_steps.size() != IntegerLstm::kGates || op->r_steps.size() != IntegerLstm::kGates)
    refuse_model("it has not four gates");
  if (op->cell_bits < 9 || op->cell_bits > 15)
    refuse_model("a cell state with " + std::to_string(op->cell_bits) + " fractional bits");
  return op;
}

}  // namespace vellum
