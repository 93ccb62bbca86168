// TFLite models of one operator, with the values that it computes by its definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {

struct TfliteCase {
  std::string name, bytes;
  std::vector<HostTensor> inputs;  // of tensors "x" and, if there are two, "indices"
  HostTensor expected;             // "y"
};

inline std::vector<int32_t> to_int32(const Shape& shape) { return {shape.begin(), shape.end()}; }

// GATHER for every axis and number of batch dimensions of data of up to four dimensions. `constant`: whether
// the indices are a constant.
inline std::vector<TfliteCase> gather_cases(bool constant) {
  std::vector<TfliteCase> cases;
  uint32_t seed = 1;
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 3, 4, 5}, Shape{1, 2, 1, 3}})
    for (size_t axis = 0; axis < shape.size(); ++axis)
      for (size_t batch = 0; batch <= axis; ++batch)
        for (size_t chosen = 0; chosen < 3; ++chosen) {
          Shape indices_shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch));
          for (size_t i = 0; i < chosen; ++i) indices_shape.push_back(static_cast<int64_t>(i) + 2);
          if (indices_shape.empty()) continue;  // a scalar
          std::mt19937 random(seed);
          std::vector<int32_t> indices(static_cast<size_t>(element_count(indices_shape)));
          for (int32_t& index : indices)
            index = static_cast<int32_t>(random() % static_cast<uint32_t>(shape[axis]));
          const HostTensor x = random_tensor(shape, ++seed);

          // Element (batch, outer, chosen, inner) is x(batch, outer, index(batch, chosen), inner).
          const auto count = [](const Shape& dims, size_t begin, size_t end) {
            int64_t product = 1;
            for (size_t i = begin; i < end; ++i) product *= dims[i];
            return product;
          };
          const int64_t batches = count(shape, 0, batch), outers = count(shape, batch, axis),
                        picks = count(indices_shape, batch, indices_shape.size()),
                        inners = count(shape, axis + 1, shape.size());
          std::vector<float> values;
          for (int64_t b = 0; b < batches; ++b)
            for (int64_t o = 0; o < outers; ++o)
              for (int64_t p = 0; p < picks; ++p)
                for (int64_t i = 0; i < inners; ++i) {
                  const int64_t index = indices[static_cast<size_t>(b * picks + p)];
                  values.push_back(x.as<float>()[static_cast<size_t>(
                      ((b * outers + o) * shape[axis] + index) * inners + i)]);
                }
          Shape y_shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
          y_shape.insert(y_shape.end(), indices_shape.begin() + static_cast<std::ptrdiff_t>(batch),
                         indices_shape.end());
          y_shape.insert(y_shape.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end());

          TfliteModel m;
          const auto in = m.tensor("x", to_int32(shape)), y = m.tensor("y", to_int32(y_shape));
          const int32_t at =
              constant ? m.constant("indices", to_int32(indices_shape), indices, tfl::TensorType::int32)
                       : m.tensor("indices", to_int32(indices_shape), tfl::TensorType::int32);
          // Both may count from the end.
          const bool from_end = seed % 2 == 0;
          const auto signed_axis =
              static_cast<int32_t>(axis) - (from_end ? static_cast<int32_t>(shape.size()) : 0);
          const auto signed_batch =
              static_cast<int32_t>(batch) -
              (from_end && batch < indices_shape.size() ? static_cast<int32_t>(indices_shape.size()) : 0);
          m.op(36, {in, at}, {y}, tfl::BuiltinOptions::GatherOptions,
               tfl::CreateGatherOptions(m.builder(), signed_axis, signed_batch).Union());
          std::vector<HostTensor> inputs{x};
          std::vector<int32_t> graph_inputs{in};
          if (!constant) {
            inputs.push_back(HostTensor::from<int32_t>(DType::i32, indices_shape, indices));
            graph_inputs.push_back(at);
          }
          cases.push_back({to_string(shape) + " axis " + std::to_string(axis) + " batch " +
                               std::to_string(batch) + " indices " + to_string(indices_shape),
                           m.finish(graph_inputs, {y}), std::move(inputs), HostTensor::f32(y_shape, values)});
        }
  return cases;
}

// FULLY_CONNECTED of one to four dimensions, with each activation, with and without bias.
inline std::vector<TfliteCase> fully_connected_cases() {
  using tfl::FusedActivation;
  std::vector<TfliteCase> cases;
  uint32_t seed = 1;
  for (const Shape& shape : {Shape{3, 8}, Shape{2, 3, 8}, Shape{1, 5, 8}, Shape{2, 3, 2, 8}})
    for (const FusedActivation activation :
         {FusedActivation::none, FusedActivation::relu, FusedActivation::relu6, FusedActivation::relu_n1_to_1,
          FusedActivation::tanh})
      for (const bool with_bias : {false, true})
        for (const bool keep : {true, false}) {
          constexpr int64_t inputs = 8, outputs = 5;
          const HostTensor x = random_tensor(shape, ++seed, -3, 3),
                           w = random_tensor({outputs, inputs}, ++seed, -3, 3),
                           bias = random_tensor({outputs}, ++seed);
          const int64_t rows = element_count(shape) / inputs;
          std::vector<float> values;
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t o = 0; o < outputs; ++o) {
              double sum = with_bias ? bias.as<float>()[static_cast<size_t>(o)] : 0;
              for (int64_t i = 0; i < inputs; ++i)
                sum += double{x.as<float>()[static_cast<size_t>(row * inputs + i)]} *
                       double{w.as<float>()[static_cast<size_t>(o * inputs + i)]};
              if (activation == FusedActivation::relu) sum = std::max(sum, 0.0);
              if (activation == FusedActivation::relu6) sum = std::clamp(sum, 0.0, 6.0);
              if (activation == FusedActivation::relu_n1_to_1) sum = std::clamp(sum, -1.0, 1.0);
              if (activation == FusedActivation::tanh) sum = std::tanh(sum);
              values.push_back(static_cast<float>(sum));
            }
          Shape y_shape{rows, outputs};
          if (keep) {
            y_shape = shape;
            y_shape.back() = outputs;
          }
          const auto floats = [](const HostTensor& tensor) {
            return std::vector<float>(tensor.as<float>().begin(), tensor.as<float>().end());
          };
          TfliteModel m;
          const auto in = m.tensor("x", to_int32(shape)),
                     weights = m.floats("w", {outputs, inputs}, floats(w));
          std::vector<int32_t> operands{in, weights};
          if (with_bias) operands.push_back(m.floats("b", {outputs}, floats(bias)));
          const auto y = m.tensor("y", to_int32(y_shape));
          m.op(9, operands, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
               tfl::CreateFullyConnectedOptions(m.builder(), activation, tfl::WeightsFormat::standard, keep)
                   .Union());
          cases.push_back({to_string(shape) + " activation " + std::to_string(static_cast<int>(activation)) +
                               (with_bias ? " bias" : "") + (keep ? " kept" : ""),
                           m.finish({in}, {y}),
                           {x},
                           HostTensor::f32(y_shape, values)});
        }
  return cases;
}

}  // namespace vellum::test
