// Whole networks, quantised on a device.
#include "vellum/quantize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../api/public_interface.hpp"
#include "../api/small_model.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

InputTensors example(size_t index) {
  return {{"x", random_tensor({1, 3, 9, 11}, static_cast<uint32_t>(100 + index))}};
}

QuantizedModel quantized(const QuantizeOptions& options, size_t examples = 3) {
  const Device device = Device::open(device_options());
  return quantize(device, Model::load(as_bytes(small_model().bytes())), examples, example, options);
}

// The error of the file against the model of floats on the examples, as a fraction of the root mean square.
double error_of(const std::string& onnx) {
  const Device device = Device::open(device_options());
  Session floats(device, Model::load(as_bytes(small_model().bytes()))),
      integers(device, Model::load(as_bytes(onnx)));
  double signal = 0, noise = 0;
  for (size_t i = 0; i < 3; ++i) {
    const auto exact = floats.run(example(i)).at("y").to_floats(),
               rounded = integers.run(example(i)).at("y").to_floats();
    for (size_t k = 0; k < exact.size(); ++k) {
      signal += std::pow(static_cast<double>(exact[k]), 2);
      noise += std::pow(static_cast<double>(exact[k]) - static_cast<double>(rounded[k]), 2);
    }
  }
  return std::sqrt(noise / signal);
}

TEST(Quantize, TheFileComputesWhatTheReportSays) {
  for (const QuantizeRanges ranges : {QuantizeRanges::minmax, QuantizeRanges::mse}) {
    const QuantizedModel result = quantized({.ranges = ranges});
    ASSERT_EQ(result.layers.size(), 2u);
    EXPECT_EQ(result.layers[0].op, "Conv");
    EXPECT_TRUE(result.layers[1].in_integers);
    EXPECT_GT(result.layers[0].own_ratio, 25.0);
    EXPECT_LT(result.layers[0].low, -0.9f);
    ASSERT_EQ(result.outputs.size(), 1u);
    EXPECT_GT(result.outputs[0].error, 0.0);
    const double error = error_of(result.onnx);
    EXPECT_LT(error, 0.03);
    EXPECT_NEAR(error, result.outputs[0].error, 1e-3 * error);
    EXPECT_LT(result.onnx.size(), 6000u);
    EXPECT_NE(quantized_model_svg("a < b", result).find("a &lt; b"), std::string::npos);
  }
}

TEST(Quantize, LayersStayInFloatsUntilTheErrorIsSmallEnough) {
  const QuantizedModel all = quantized({}), some = quantized({.max_drop = 0.9 * all.outputs[0].error}),
                       none = quantized({.max_drop = 1e-9});
  const auto count = [](const QuantizedModel& model) {
    return std::ranges::count(model.layers, true, &QuantizedLayer::in_integers);
  };
  EXPECT_EQ(count(all), 2);
  EXPECT_LT(count(some), 2);
  EXPECT_EQ(count(none), 0);
  EXPECT_LT(some.outputs[0].error, all.outputs[0].error);
  EXPECT_LT(error_of(none.onnx), 1e-5);
}

TEST(Quantize, WeightsAlone) {
  EXPECT_LT(error_of(quantized({.weight_only_bits = 8}, 0).onnx), 0.01);
  EXPECT_LT(error_of(quantized({.weight_only_bits = 4}, 0).onnx), 0.2);
}

TEST(Quantize, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_VELLUM_ERROR(quantized({}, 0), ErrorCode::invalid_argument, "at least one example");
  EXPECT_VELLUM_ERROR(quantized({.weight_only_bits = 3}), ErrorCode::invalid_argument, "3 bits");
  EXPECT_VELLUM_ERROR(quantized({.percentile = 20}), ErrorCode::invalid_argument, "percentile");
  EXPECT_VELLUM_ERROR(quantized({.max_drop = -1}), ErrorCode::invalid_argument, "largest error");
}

}  // namespace
}  // namespace vellum::test
