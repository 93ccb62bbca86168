// Makes one operator and runs it on the host, checking that the results have the types the shape rule gave.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "graph/operator_support.hpp"
#include "vellum/error.hpp"

namespace vellum::testing {

using Floats = std::vector<float>;

inline HostTensor floats(Shape shape, const Floats& values) {
  return HostTensor::f32(std::move(shape), values);
}
inline HostTensor ints(Shape shape, const Ints& values) { return HostTensor::i64(std::move(shape), values); }
inline HostTensor bools(Shape shape, const Ints& values) {
  return HostTensor::from<int64_t>(DType::boolean, std::move(shape), values);
}
// 0, 1, 2, ...
inline HostTensor counting(Shape shape) {
  Floats values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return floats(std::move(shape), values);
}

// Numbers in -1...1, times the factor.
inline HostTensor eighths(const Shape& shape, int64_t seed, float factor = 1.0f, bool absolute = false) {
  Floats values;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const float value = static_cast<float>((i * 7 + seed * 5) % 17 - 8) / 8.0f * factor;
    values.push_back(absolute ? std::fabs(value) : value);
  }
  return floats(shape, values);
}

// Integers of 8 bits, of all values.
inline HostTensor octets(const Shape& shape, int64_t seed, DType dtype = DType::u8) {
  Ints values;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const int64_t value = (i * 37 + seed * 11) % 256;
    values.push_back(dtype == DType::i8 && value > 127 ? value - 256 : value);
  }
  return HostTensor::from<int64_t>(dtype, shape, values);
}

struct Spec {
  std::string type;
  int opset = 13;
  std::vector<std::pair<std::string, Attributes::Value>> attributes = {};
  size_t outputs = 1;
};

using OptionalTensors = std::vector<std::optional<HostTensor>>;

inline std::shared_ptr<const Operator> make(const Spec& spec, const OptionalTensors& inputs) {
  Attributes attributes;
  for (const auto& [name, value] : spec.attributes) attributes.set(name, value);
  NodeSpec node;
  node.type = spec.type;
  node.opset = spec.opset;
  node.attributes = &attributes;
  for (const auto& input : inputs) node.input_present.push_back(input.has_value());
  node.output_count = spec.outputs;
  return make_operator(node);
}

inline std::vector<const HostTensor*> pointers(const OptionalTensors& inputs) {
  std::vector<const HostTensor*> result;
  for (const auto& input : inputs) result.push_back(input ? &*input : nullptr);
  return result;
}

inline std::vector<HostTensor> run_all(const Operator& op, const OptionalTensors& inputs) {
  const auto arguments = pointers(inputs);
  const auto types = infer_known(op, arguments);
  auto results = op.evaluate(arguments);
  EXPECT_EQ(results.size(), types.size());
  for (size_t i = 0; i < results.size() && i < types.size(); ++i) {
    EXPECT_EQ(to_string(results[i].type()), to_string(types[i])) << op.type();
  }
  return results;
}

inline HostTensor run(const Spec& spec, const OptionalTensors& inputs) {
  return run_all(*make(spec, inputs), inputs)[0];
}

inline void expect_floats(const HostTensor& actual, const Shape& shape, const Floats& values,
                          float tolerance = 1e-5f) {
  EXPECT_EQ(to_string(actual.shape()), to_string(shape));
  const auto got = actual.to_floats();
  ASSERT_EQ(got.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(got[i], values[i], tolerance) << "element " << i;
}

inline void expect_ints(const HostTensor& actual, const Shape& shape, const Ints& values) {
  EXPECT_EQ(to_string(actual.shape()), to_string(shape));
  EXPECT_EQ(actual.to_ints(), values);
}

// The work throws Error with this code, and its message contains `text`.
template <typename Work>
void expect_error(ErrorCode code, const std::string& text, Work&& work) {
  try {
    work();
    ADD_FAILURE() << "nothing was refused; expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

inline void expect_refused(const Spec& spec, const OptionalTensors& inputs, const std::string& text,
                           ErrorCode code = ErrorCode::corrupt_model) {
  expect_error(code, text, [&] { run(spec, inputs); });
}

}  // namespace vellum::testing
