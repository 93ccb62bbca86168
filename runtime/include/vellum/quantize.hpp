// Post-training static quantisation. It takes a floating-point model and examples of its inputs, and makes an
// ONNX file with QuantizeLinear and DequantizeLinear around the layers, which other engines run as well.
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
  bool equalize = false;            // scale the channels of consecutive layers to equal ranges
  bool correct_biases = true;       // remove the mean error of each channel
  // The largest error of an output, as a fraction of its root mean square. The layers with the greatest
  // errors stay in floating point until it is met. 0: all layers are quantised.
  double max_drop = 0.0;
  // 8 or 4: only weights are quantised, to this many bits; examples are not used. 0: activations too.
  uint32_t weight_only_bits = 0;
  InputShapes input_shapes;  // for open dimensions
  // Called with the name of a stage, and with the finished and total number of its steps.
  std::function<void(std::string_view stage, size_t done, size_t total)> progress;
};

struct QuantizedLayer {
  std::string name, op;
  bool in_integers = true;        // false: the layer stayed in floating point
  float low = 0.0f, high = 0.0f;  // the range of its first input
  // Signal to noise ratio of its output in decibels: if only this layer is quantised, and in the whole
  // quantised network. Infinity without noise.
  double own_ratio = 0.0, network_ratio = 0.0;
};

struct QuantizedOutput {
  std::string name;
  double ratio = 0.0;  // signal to noise in decibels
  double error = 0.0;  // the noise as a fraction of the root mean square
};

struct QuantizedModel {
  std::string onnx;                    // the bytes of the ONNX file
  std::vector<QuantizedLayer> layers;  // in the order of execution
  std::vector<QuantizedOutput> outputs;
};

// Returns the inputs of one example, by name.
using QuantizeExample = std::function<InputTensors(size_t index)>;

// Quantises a model. The device runs the model on all `examples`: once to find ranges, once more for
// percentile, entropy and mse, and again to measure errors. Throws Error(invalid_argument) without examples,
// unless only weights are quantised, and Error(unsupported) for a model with an operator that ONNX does not
// have.
VELLUM_API QuantizedModel quantize(const Device& device, const Model& model, size_t examples,
                                   const QuantizeExample& example, const QuantizeOptions& options = {});

// Returns the model in 8-bit integers as quantize() makes it, but with the same range for all tensors, in
// place of ranges that runs find. Its memory, dispatches and time are those of the quantised model; its
// results mean nothing. Needs neither a device nor examples.
VELLUM_API Model quantized_stand_in(const Model& model, const InputShapes& input_shapes = {});

// Returns the report as an SVG picture: bars of the layers' signal to noise ratios.
VELLUM_API std::string quantized_model_svg(const std::string& title, const QuantizedModel& model);

}  // namespace vellum
