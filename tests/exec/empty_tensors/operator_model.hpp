// Models of one operator, one of whose dimensions has another size than the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {

// The size of the named dimensions of a case, but for one.
constexpr int64_t kUsualSize = 4;

// A dimension of another size; without a name all have the usual one.
struct Resized {
  std::string name;
  int64_t size = 0;

  bool has_elements() const { return !name.empty() && size > 0; }
};

// A bit for each output: whether the model has it.
using OutputMask = uint64_t;
constexpr OutputMask kAllOutputs = UINT64_MAX;

// The names of the dimensions of the case's inputs.
std::set<std::string> dimension_names(const Case& test);

// A dimension of size 0 is sliced out of a graph input that has the usual size, because a graph input has
// elements.
OnnxModel model_of(const Case& test, const Resized& resized, OutputMask outputs = kAllOutputs);

}  // namespace vellum::test::empty_tensors
