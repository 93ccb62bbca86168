// A network that the tests run on faulty drivers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "faulty_driver/faulty_driver.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/context.hpp"

namespace vellum::test {

// The shader of the network's 1x1 convolution, as FaultyDriver names shaders.
constexpr const char* kPointwise = "ConvPointwiseParameters";

// An ONNX file: Conv 3x3, Conv 1x1, Softmax.
std::string network();

gpu::ContextOptions context_options(const FaultyDriver& driver, const std::filesystem::path& folder,
                                    const LogCallback& log);

Device open(const FaultyDriver& driver, const std::filesystem::path& folder, const LogCallback& log,
            SelfCheck self_check = SelfCheck::on);

// Runs a model whose input has ten rows of `width` values in six channels, and returns the output.
std::vector<float> run_model(const Device& device, const Model& model, const SessionOptions& options,
                             std::vector<std::string>& warnings, int64_t width = 12);
std::vector<float> run_network(const Device& device, std::vector<std::string>& warnings);

// Returns the warnings, one a line.
std::string joined(const std::vector<std::string>& warnings);

}  // namespace vellum::test
