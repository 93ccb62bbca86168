// One operator of a TFLite file, in the form that converters receive.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "import/tflite/schema.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

inline constexpr int32_t kLeftOut = -1;  // an omitted optional input
// The version of a custom operator if it is unknown, because another runtime calls and lacks the operator.
inline constexpr int kUnknownVersion = 0;

// The window of a convolution whose dilation is expressed by other operators (dilation.hpp).
struct Dilation {
  Ints dilations, pads;
};

struct Call {
  Writer& writer;
  const schema::Operator& op;
  std::string type;  // CONV_2D, or the name of a custom operator
  int version = 1;
  std::vector<int32_t> inputs, outputs;
  const Dilation* dilation = nullptr;

  // Returns the tensor of an input; throws Error(corrupt_model) if it is missing.
  int32_t input(size_t index) const;
  bool has_input(size_t index) const { return index < inputs.size() && inputs[index] != kLeftOut; }
  int32_t output(size_t index = 0) const;

  // Returns the operator's options; null if the file omits them, which means all zero.
  template <typename Options>
  const Options* options() const {
    return op.builtin_options_as<Options>();
  }
  template <typename Options>
  const Options& required_options() const {
    const Options* found = options<Options>();
    if (found == nullptr) refuse_model("its options are missing or of another operator");
    return *found;
  }

  // Returns the elements of a constant input, one for each of `rank` dimensions.
  Ints constant_of_rank(size_t index, size_t rank, const char* what) const;
  // Returns the first `count` 32-bit integers of a custom operator's options.
  Ints custom_numbers(size_t count) const;

  // Adds a node with operator `made`. Its result, after the fused activation, is output 0. `image`: the
  // result is in N, C, H, W.
  void emit(std::shared_ptr<const Operator> made, std::vector<ValueId> values, bool image,
            schema::FusedActivation activation = schema::FusedActivation::none) const;
  // Adds an inner node, if one operator of the file becomes several nodes. Returns its result after the
  // activation.
  ValueId emit_inner(std::shared_ptr<const Operator> made, std::vector<ValueId> values,
                     schema::FusedActivation activation = schema::FusedActivation::none) const;

  // Adds an inner Transpose: dimension i of its result is dimension order[i] of `value`.
  ValueId emit_transposed(ValueId value, Ints order) const;

  // Returns whether an operator that supports both orders of dimensions should use images (N, C, H, W): its
  // output has four dimensions, and an input is held as an image.
  bool prefers_image() const;
  // Returns the value of an input for an elementwise operator with broadcasting.
  ValueId broadcast_input(size_t index, bool image) const;
  ValueId scalar(float value) const;
  ValueId ints(const Ints& values, const char* what) const;
  // Returns the integers of an input as int64. They may be computed, from shapes.
  ValueId computed_ints(size_t index) const;
};

std::shared_ptr<Binary> make_binary(BinaryKind kind);
std::shared_ptr<Unary> make_unary(UnaryKind kind);
std::shared_ptr<Cast> cast_to(DType dtype);

using Convert = void (*)(const Call& call);

// Returns the converter of a builtin operator by its number, and sets `name`. Returns nullptr for an
// unsupported operator.
Convert find_builtin(int32_t code, std::string& name);
Convert find_custom(const std::string& name);

}  // namespace vellum::tflite
