// Operators with the dimensions of their inputs by name, in lists by subject.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/tensor.hpp"

namespace vellum::test::empty_tensors {

// An input that is computed at run time, or a constant. The text has the dimensions, by name or size, after
// the element type if that is not float32: "n c h 2", "i64: n c". Empty: the input is omitted.
struct Input {
  Input(const char* text) : dims(text) {}
  Input(HostTensor tensor) : constant(std::move(tensor)) {}

  std::string dims;
  std::optional<HostTensor> constant;
};

struct Case {
  std::string type;
  std::vector<Input> inputs;
  Attributes attributes = {};
  size_t outputs = 1;
  int opset = 22;
};

std::vector<Case> elementwise_cases();
std::vector<Case> movement_cases();   // the results are elements of the inputs, or follow from shapes
std::vector<Case> generator_cases();  // the results follow from attributes, constants or random numbers
std::vector<Case> reduction_cases();  // pooling and normalisation included
std::vector<Case> product_cases();    // products and what contains them: recurrences, attention; detection
std::vector<Case> quantised_cases();

// Constants of the cases.
inline HostTensor ints(const std::vector<int64_t>& values) {
  return HostTensor::i64({static_cast<int64_t>(values.size())}, values);
}
inline HostTensor floats(const std::vector<float>& values) {
  return HostTensor::f32({static_cast<int64_t>(values.size())}, values);
}
inline HostTensor scalar(int64_t value) { return HostTensor::i64({}, std::vector<int64_t>{value}); }
inline HostTensor scalar(float value) { return HostTensor::f32({}, std::vector<float>{value}); }

}  // namespace vellum::test::empty_tensors
