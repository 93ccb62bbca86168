// OptionalHasElement of tensors: a constant, because the model says whether the input is present. Values of
// optional type are refused when the file is read.
// https://onnx.ai/onnx/operators/onnx__OptionalHasElement.html
#include "graph/operator_support.hpp"

namespace vellum {
namespace {

struct OptionalHasElement : Operator {
  std::string_view type() const override { return "OptionalHasElement"; }
  std::vector<TensorType> infer(Inputs) const override { return {{DType::boolean, {}}}; }
  std::vector<HostTensor> evaluate(HostInputs inputs) const override {
    return {answer(!inputs.empty() && inputs[0] != nullptr)};
  }
  bool reads_types_only() const override { return true; }
  HostTensor evaluate_types(Inputs inputs) const override { return answer(has_input(inputs, 0)); }

 private:
  static HostTensor answer(bool present) {
    HostTensor tensor(DType::boolean, {});
    tensor.mutable_as<uint8_t>()[0] = present ? 1 : 0;
    return tensor;
  }
};

}  // namespace

std::shared_ptr<const Operator> make_optional_has_element(const NodeSpec&) {
  return std::make_shared<OptionalHasElement>();
}

}  // namespace vellum
