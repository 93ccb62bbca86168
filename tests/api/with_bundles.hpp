// Tests of models that are packed into bundles.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/temp_folder.hpp"

namespace vellum::test {

using Outputs = std::map<std::string, Tensor>;

inline std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline Outputs run(const Device& device, const Model& model, const SessionOptions& options = {}) {
  Session session(device, model, options);
  std::map<std::string, Tensor> inputs;
  for (const TensorInfo& input : session.inputs())
    inputs[input.name] =
        input.dtype == DType::f32 ? random_tensor(input.shape, 11) : Tensor(input.dtype, input.shape);
  return session.run(inputs);
}

inline testing::AssertionResult same(const Outputs& actual, const Outputs& expected) {
  if (actual.size() != expected.size()) return testing::AssertionFailure() << actual.size() << " outputs";
  for (const auto& [name, tensor] : expected)
    if (const auto result = same_bits(actual.at(name), tensor); !result) return result;
  return testing::AssertionSuccess();
}

class WithBundles : public testing::Test {
 protected:
  std::filesystem::path save(const OnnxModel& model) const {
    model.save(folder / "model.onnx");
    return folder / "model.onnx";
  }

  TempFolder folder;
};

}  // namespace vellum::test
