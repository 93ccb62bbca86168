// Helpers that the operator families share: errors, access to inputs, axes, and iteration over strided
// tensors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/element.hpp"
#include "graph/operator.hpp"

namespace vellum {

using Ints = Attributes::Ints;
using Inputs = std::span<const OperatorInput>;
using HostInputs = std::span<const HostTensor* const>;
using Outputs = std::span<const TensorType>;

// Throws Error(corrupt_model): the model contradicts itself or ONNX.
[[noreturn]] void refuse_model(const std::string& message);
// Throws Error(unsupported): the model is valid, but Vellum cannot run it.
[[noreturn]] void refuse_unsupported(const std::string& message);

// Formats a type: "1x3 float32".
std::string to_string(const TensorType& type);

// Return inputs of a shape rule. Throw Error(corrupt_model) for a missing input or a wrong type. `what`:
// ONNX's name of the input, for errors.
bool has_input(Inputs inputs, size_t index);
const TensorType& input_type(Inputs inputs, size_t index, std::string_view what);
const TensorType& float_input_type(Inputs inputs, size_t index, std::string_view what);
// Returns the value of an input that decides the output's shape; throws Error(unsupported) if it is known
// only at run time.
const HostTensor& constant_input(Inputs inputs, size_t index, std::string_view what);
Ints constant_ints(Inputs inputs, size_t index, std::string_view what);
// Returns a value that is an attribute in older operator sets and an input in newer ones; nothing if it is
// neither.
std::optional<Ints> attribute_or_input(const std::optional<Ints>& attribute, Inputs inputs, size_t index,
                                       std::string_view what);

// Returns whether the values of all inputs are known before running.
bool all_known(Inputs inputs);

// Returns the inputs of evaluate() in the form that the shape rule takes, with every value known. evaluate()
// begins with infer() on these, which checks everything that its loops rely on.
std::vector<OperatorInput> known_inputs(HostInputs inputs);
std::vector<TensorType> infer_known(const Operator& op, HostInputs inputs);

std::optional<Ints> optional_ints(const Attributes& attributes, std::string_view name);
// Refuses the training form of an operator. Before opset 7 the attribute is_test=1 marks the inference form.
void require_inference(const NodeSpec& spec);
// Returns a flag attribute; refuses values other than 0 and 1.
bool get_flag(const Attributes& attributes, std::string_view name, bool fallback);

// Returns a copy of `op` that also applies `added`; nullptr if its own activation does not combine with it.
template <typename Op>
std::shared_ptr<const Operator> copy_with_activation(const Op& op, const Activation& added) {
  const auto both = combine(op.activation, added);
  if (!both) return nullptr;
  auto copy = std::make_shared<Op>(op);
  copy->activation = *both;
  return copy;
}
void print_activation(Attributes& attributes, const Activation& activation);
void print_rounding(Attributes& attributes, const Activation& activation);

// Returns the axis counted from 0; a negative one counts from the end. Throws Error(corrupt_model) outside
// [-rank, rank).
size_t normalize_axis(int64_t axis, size_t rank);
// Returns the axes counted from 0 and sorted. Throws Error(corrupt_model) for an axis out of range or named
// twice.
std::vector<size_t> normalize_axes(const Ints& axes, size_t rank);

// Return a*b and a+b of values from a model; throw Error(unsupported) on overflow.
int64_t checked_multiply(int64_t a, int64_t b);
int64_t checked_add(int64_t a, int64_t b);

// Products and sums of counts for Operator::work(), which stop at the largest number.
uint64_t saturating_multiply(uint64_t a, uint64_t b);
uint64_t saturating_add(uint64_t a, uint64_t b);
// Returns the elementary operations of reading and writing each element once; unknown shapes count as 0.
uint64_t elementwise_work(Inputs inputs, Outputs outputs);

// Returns strides that read a tensor of shape `from` as if it were broadcast to `to`: 0 along repeated axes.
std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to);

// Returns the product of dims[begin, end).
int64_t product(const Shape& dims, size_t begin, size_t end);

// Visits every index of `shape` in row-major order: visit(offsets), offsets[k] = sum of index * strides[k].
template <size_t N, typename Visit>
void for_each_offset(const Shape& shape, const std::array<std::vector<int64_t>, N>& strides,
                     std::array<int64_t, N> offsets, Visit&& visit) {
  const int64_t count = element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(offsets);
    for (size_t axis = shape.size(); axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][axis];
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
      for (size_t k = 0; k < N; ++k) offsets[k] -= strides[k][axis] * shape[axis];
    }
  }
}

// Copies strided elements of `input` into a dense tensor of `shape`, for any element type.
HostTensor gather_strided(const HostTensor& input, const Shape& shape, const std::vector<int64_t>& strides,
                          int64_t offset);

// Returns a tensor of `shape`. Its element at index (i, j, ...) is the input's element at offsets[0][i] +
// offsets[1][j] + ..., or the one element of `fill` if one of these offsets is kOutside.
inline constexpr int64_t kOutside = -1;
HostTensor gather_by_axis(const HostTensor& input, const Shape& shape, const std::vector<Ints>& offsets,
                          const HostTensor& fill);

// Returns the weights of Keys' cubic kernel for the elements at distances 1 + t, t, 1 - t and 2 - t. a is
// usually -0.5 or -0.75.
std::array<float, 4> cubic_weights(float t, float a);

}  // namespace vellum
