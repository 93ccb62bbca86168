#include "selfcheck/weight_cases.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace vellum {
namespace {

constexpr float kByteStep = 1.0f / 64;

// Returns the operator with its weights on a grid of bytes, as in a file of floats with 8-bit weights.
SmallOperator with_byte_weights(SmallOperator made) {
  made.name += ", weights in bytes";
  made.graph.has_integer_weights = true;
  for (Value& value : made.graph.values)
    if (value.constant && value.type.shape.size() > 1)
      for (float& weight : value.constant->mutable_as<float>())
        weight = std::nearbyint(weight / kByteStep) * kByteStep;
  return made;
}

// Returns the operator with its input rounded to bytes, too.
SmallOperator in_bytes(const SmallOperator& operation) {
  SmallOperator made = with_byte_weights(operation);
  made.name = operation.name + ", in bytes";
  selfcheck::round_input(made.graph, 0, kByteStep);
  return made;
}

// Returns a layer with its input and its results rounded to bytes. A step of the results is small enough that
// one result beside a tie may be the other step.
SmallOperator with_rounded_results(const SmallOperator& operation) {
  SmallOperator made = in_bytes(operation);
  made.name = operation.name + " with rounded results, in bytes";
  Node& node = made.graph.nodes[1];
  node.op = node.op->with_activation({.step = 1.0f / 16, .least = -128, .most = 127});
  return made;
}

// Returns the operator with its input in bytes, and weights that exceed signed bytes.
SmallOperator with_unsigned_weights(const SmallOperator& operation) {
  SmallOperator made = in_bytes(operation);
  made.name = operation.name + " with unsigned weights, in bytes";
  for (Value& value : made.graph.values)
    if (value.constant && value.type.shape.size() > 1)
      for (float& weight : value.constant->mutable_as<float>())
        weight = std::clamp(weight + 100 * kByteStep, -27 * kByteStep, 228 * kByteStep);
  return made;
}

// Calls set(weight, output channel, input channel) for each weight of the operator, without filters of
// depthwise convolutions.
template <typename Set>
void for_each_weight(SmallOperator& made, const Set& set) {
  const std::string_view type = made.graph.nodes[0].op->type();
  const bool by_inputs = type == "Gemm" || type == "ProductNorm" || type == "ConvTranspose";
  for (Value& value : made.graph.values) {
    if (!value.constant || value.type.shape.size() < 2) continue;
    const Shape& shape = value.type.shape;
    if (shape[1] == 1) continue;  // filters of a depthwise convolution
    const auto weights = value.constant->mutable_as<float>();
    const int64_t taps = element_count(Shape(shape.begin() + 2, shape.end()));
    for (int64_t i = 0; i < static_cast<int64_t>(weights.size()); ++i) {
      const int64_t first = i / (shape[1] * taps), second = i / taps % shape[1];
      set(weights[static_cast<size_t>(i)], by_inputs ? second : first, by_inputs ? first : second);
    }
  }
}

// Returns `weight` as a multiple of `step` that is an integer of `bits` bits after `zero` is added.
float rounded(float weight, float step, int64_t bits, int64_t zero) {
  const float low = static_cast<float>(-zero), high = static_cast<float>((1 << bits) - 1 - zero);
  return std::clamp(std::nearbyint(weight / step), low, high) * step;
}

SmallOperator with_weights_of_4_bits(const SmallOperator& operation) {
  SmallOperator made = with_byte_weights(operation);
  made.name = operation.name + ", weights of 4 bits";
  for_each_weight(made, [](float& weight, int64_t, int64_t) { weight = rounded(weight, 1.0f / 8, 4, 8); });
  return made;
}

// A scale and a zero point for each output channel.
SmallOperator with_zero_points(const SmallOperator& operation) {
  constexpr int64_t kBits = 4;
  SmallOperator made = with_byte_weights(operation);
  made.name = operation.name + ", weights of 4 bits with zero points";
  for_each_weight(made, [&](float& weight, int64_t output, int64_t) {
    const float step = (0.8f + 0.1f * static_cast<float>(output % 5)) / static_cast<float>(1 << (kBits - 1));
    weight = rounded(weight, step, kBits, output % 2 == 0 ? 3 : 12);
  });
  return made;
}

// A scale and a zero point for each block of 16 input channels of each output channel.
SmallOperator with_blocks(const SmallOperator& operation, int64_t bits) {
  SmallOperator made = with_byte_weights(operation);
  made.name = operation.name + ", blocks of weights of " + std::to_string(bits) + " bits";
  for_each_weight(made, [&](float& weight, int64_t output, int64_t input) {
    const int64_t block = output + 3 * (input / 16);
    const float step = (0.8f + 0.1f * static_cast<float>(block % 7)) / static_cast<float>(1 << (bits - 1));
    weight = rounded(weight, step, bits, (block % 2 == 0 ? 1 : 3) << (bits - 2));
  });
  return made;
}

}  // namespace

void add_integer_weights(std::vector<SmallOperator>& list) {
  constexpr std::string_view kNames[] = {"Conv 1x1",
                                         "Conv 3x3",
                                         "Conv 3x3 in groups",
                                         "Conv 3x3 depthwise",
                                         "ConvTranspose 3x3",
                                         "Gemm",
                                         "SeparableConv 3x3",
                                         "SeparableConv 5x5 of many channels",
                                         "ConvSqueezeExcite 3x3",
                                         "ExpandConv 3x3",
                                         "ExpandConv 3x3 with gates",
                                         "Conv 1x1 and 3x3",
                                         "PoolConv 3x3",
                                         "ConvMean",
                                         "ProductNorm",
                                         "ConvTable 1x1",
                                         "ConvTable 3x3",
                                         "ConvTable 3x3 depthwise",
                                         "ConvTable of a product",
                                         "SqueezeExcite"};
  constexpr std::string_view kRounded[] = {"Conv 1x1", "Conv 3x3", "Conv 3x3 in groups", "Conv 3x3 depthwise",
                                           "Gemm"};
  constexpr std::string_view kUnsigned[] = {"Conv 1x1", "Conv 3x3"};
  constexpr std::string_view kNarrow[] = {"Conv 1x1",
                                          "Conv 3x3",
                                          "Conv 3x3 of a picture",
                                          "Conv 3x3 in groups",
                                          "ConvTranspose 3x3",
                                          "Gemm",
                                          "SeparableConv 3x3",
                                          "SeparableConv 5x5 of many channels",
                                          "ExpandConv 3x3",
                                          "Conv 1x1 and 3x3",
                                          "PoolConv 3x3",
                                          "ConvMean",
                                          "ProductNorm"};
  constexpr std::string_view kRecurrent[] = {"LSTM", "GRU", "RNN"};
  std::vector<SmallOperator> added;
  for (const SmallOperator& made : list) {
    if (std::ranges::count(kNarrow, std::string_view(made.name)) > 0)
      for (const SmallOperator& narrow :
           {with_weights_of_4_bits(made), with_zero_points(made), with_blocks(made, 4), with_blocks(made, 8)})
        added.push_back(narrow);
    if (std::ranges::count(kRecurrent, std::string_view(made.name)) > 0)
      added.push_back(with_byte_weights(made));
    if (std::ranges::count(kNames, std::string_view(made.name)) == 0) continue;
    added.push_back(in_bytes(made));
    if (std::ranges::count(kRounded, std::string_view(made.name)) > 0)
      added.push_back(with_rounded_results(made));
    if (std::ranges::count(kUnsigned, std::string_view(made.name)) > 0)
      added.push_back(with_unsigned_weights(made));
    if (!made.name.starts_with("ConvTable")) added.push_back(with_byte_weights(made));
  }
  std::ranges::move(added, std::back_inserter(list));
}

}  // namespace vellum
