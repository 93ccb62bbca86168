// Static quantisation of a model after training: from a model of floats and examples of its inputs to an ONNX
// file with QuantizeLinear and DequantizeLinear around its layers, which other engines run as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/device.hpp"
#include "vellum/model.hpp"

namespace vellum {

// How the range of a tensor follows from the values that it had in the examples.
//   minmax      all values
//   percentile  all but the smallest and the largest, QuantizeOptions::percentile
//   entropy     the range whose integers lose the least information (Kullback-Leibler divergence)
//   mse         the range with the least mean squared error
enum class QuantizeRanges : uint8_t { minmax, percentile, entropy, mse };

struct QuantizeOptions {
  QuantizeRanges ranges = QuantizeRanges::mse;
  double percentile = 99.99;
  bool signed_activations = false;  // int8 in place of uint8
  bool equalize = false;            // scale channels of layers that follow each other to equal ranges
  bool correct_biases = true;       // remove the mean error of each channel
  // The largest error of an output, as a fraction of its root mean square. The layers with the greatest
  // errors stay in floats until it is met. 0: all layers have integers.
  double max_drop = 0.0;
  // 8 or 4: only weights have integers, with this many bits; examples are not used.
  int weight_only_bits = 0;
  InputShapes input_shapes;  // for open dimensions
  // Is told the stage and how much of it is done.
  std::function<void(std::string_view stage, size_t done, size_t total)> progress;
};

struct QuantizedLayer {
  std::string name, op;
  bool in_integers = true;
  float low = 0.0f, high = 0.0f;  // the range of its first input
  // Signal to noise ratio of its output in decibels: with its own integers alone, and in the whole network.
  // Infinity without noise.
  double own_ratio = 0.0, network_ratio = 0.0;
};

struct QuantizedOutput {
  std::string name;
  double ratio = 0.0;  // signal to noise in decibels
  double error = 0.0;  // the noise as a fraction of the root mean square
};

struct QuantizedModel {
  std::string onnx;                    // the file
  std::vector<QuantizedLayer> layers;  // in the order of execution
  std::vector<QuantizedOutput> outputs;
};

// Returns the inputs of one example, by name.
using QuantizeExample = std::function<InputTensors(size_t index)>;

// Quantises a model. The device runs it on the examples: once for ranges, once more for percentile, entropy
// and mse, and to measure errors. Throws Error(invalid_argument) without examples, unless only weights are
// quantised; Error(unsupported) for a model with an operator that ONNX does not have.
VELLUM_API QuantizedModel quantize(const Device& device, const Model& model, size_t examples,
                                   const QuantizeExample& example, const QuantizeOptions& options = {});

// Returns the report as an SVG picture: bars of the layers' signal to noise ratios.
VELLUM_API std::string quantized_model_svg(const std::string& title, const QuantizedModel& model);

}  // namespace vellum
