// BitCast: the same bytes as elements of another type. https://onnx.ai/onnx/operators/onnx__BitCast.html
#include <cstring>
#include <string>

#include "graph/narrow_types.hpp"
#include "graph/onnx_types.hpp"
#include "graph/operator_support.hpp"

namespace vellum {
namespace {

struct BitCast : Operator {
  DType to = DType::f32;

  std::string_view type() const override { return "BitCast"; }

  std::vector<TensorType> infer(Inputs inputs) const override {
    const TensorType& input = input_type(inputs, 0, "input");
    if (size_of(input.dtype) != size_of(to))
      refuse_model(std::string(name(input.dtype)) + " and " + std::string(name(to)) + " differ in size");
    return {{to, input.shape}};
  }

  std::vector<HostTensor> evaluate(HostInputs inputs) const override {
    HostTensor output(to, infer_known(*this, inputs)[0].shape);
    if (output.byte_size() > 0) std::memcpy(output.mutable_data(), inputs[0]->data(), output.byte_size());
    return {output};
  }

  Attributes attributes() const override {
    Attributes result;
    result.set("to", std::string(name(to)));
    return result;
  }
};

}  // namespace

std::shared_ptr<const Operator> make_bit_cast(const NodeSpec& spec) {
  const int64_t to = spec.attributes->get_int("to", 0);
  if (find_narrow_type(to)) refuse_unsupported("bits of a type that is stored in a wider one");
  auto op = std::make_shared<BitCast>();
  op->to = dtype_from_onnx(to);
  return op;
}

}  // namespace vellum
