// Operators that keep the order of elements and change only the shape.
// https://onnx.ai/onnx/operators/onnx__Reshape.html, onnx__Flatten.html, onnx__Squeeze.html,
// onnx__Unsqueeze.html, onnx__Identity.html, onnx__Dropout.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Output: input 0 with the shape target(). Any dtype.
struct ReshapeFamily : Operator {
  virtual Shape target(Inputs inputs) const = 0;

  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Inputs data, shape. A 0 in the shape copies a dimension of data (unless allow_zero); one -1 is computed
// from the number of elements.
struct Reshape : ReshapeFamily {
  std::optional<Ints> shape;  // known without input 1
  bool allow_zero = false;

  std::string_view type() const override { return "Reshape"; }
  Shape target(Inputs inputs) const override;
  Attributes attributes() const override;
};

// Flattens to two dimensions: those before `axis`, and those from `axis` on.
struct Flatten : ReshapeFamily {
  int64_t axis = 1;

  std::string_view type() const override { return "Flatten"; }
  Shape target(Inputs inputs) const override;
  Attributes attributes() const override;
};

// The axes are an attribute (opset < 13) or input 1; without axes every dimension of 1 is removed.
struct Squeeze : ReshapeFamily {
  std::optional<Ints> axes;

  std::string_view type() const override { return "Squeeze"; }
  Shape target(Inputs inputs) const override;
  Attributes attributes() const override;
};

struct Unsqueeze : ReshapeFamily {
  std::optional<Ints> axes;

  std::string_view type() const override { return "Unsqueeze"; }
  Shape target(Inputs inputs) const override;
  Attributes attributes() const override;
};

struct Identity : ReshapeFamily {
  std::string_view type() const override { return "Identity"; }
  Shape target(Inputs inputs) const override { return input_type(inputs, 0, "input").shape; }
};

// Dropout in inference form: the data unchanged, and a mask of ones if with_mask.
struct Dropout : Operator {
  bool with_mask = false;
  bool boolean_mask = true;  // opset < 10: of the data's dtype

  std::string_view type() const override { return "Dropout"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum
