// One operator of the file, as its converter sees it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/operators/unary.hpp"
#include "import/tflite/schema.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

inline constexpr int32_t kLeftOut = -1;

// The window of a convolution whose dilation other operators spelt out (dilation.hpp).
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

  // Throws Error(corrupt_model) where it is missing.
  int32_t input(size_t index) const;
  bool has_input(size_t index) const { return index < inputs.size() && inputs[index] != kLeftOut; }
  int32_t output(size_t index = 0) const;

  // The operator's options, or those that the format defines where the file leaves them out: all zero.
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

  // The first `count` 32-bit integers of a custom operator's options.
  Ints custom_numbers(size_t count) const;

  // Writes `made` as output 0, the fused activation after it.
  void emit(std::shared_ptr<const Operator> made, std::vector<ValueId> values, bool image,
            schema::FusedActivation activation = schema::FusedActivation::none) const;
  // A value of its own between two operators that one of the file becomes.
  ValueId emit_inner(std::shared_ptr<const Operator> made, std::vector<ValueId> values) const;

  // True where an operator without an order of its own should work on images: its output has four
  // dimensions and an input is held as one.
  bool prefers_image() const;
  // The input for an elementwise operator with broadcasting.
  ValueId broadcast_input(size_t index, bool image) const;
  ValueId scalar(float value) const;
  ValueId ints(const Ints& values, const char* what) const;
};

using Convert = void (*)(const Call& call);

// The converter of a builtin operator by its number, its name in `name`; nullptr where Vellum has none.
Convert find_builtin(int32_t code, std::string& name);
Convert find_custom(const std::string& name);

}  // namespace vellum::tflite
