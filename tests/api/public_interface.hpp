// The device of the ctest entry and models from the tests' builder, through the public interface.
#pragma once

#include <string>

#include "device_options.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {

inline Model load(const OnnxModel& model) {
  const std::string bytes = model.bytes();
  return Model::load(as_bytes(bytes));
}

}  // namespace vellum::test
