#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {

std::vector<Case> quantised_cases() {
  const HostTensor scale = scalar(0.5f);
  const HostTensor zero = HostTensor::from<int64_t>(DType::u8, {}, std::vector<int64_t>{3});
  return {
      {"QuantizeLinear", {"n c", scale, zero}},
      {"DequantizeLinear", {"u8: n c", scale, zero}},
      {"DynamicQuantizeLinear", {"n c"}, {}, 3},
      {"ConvInteger", {"u8: n c h w", "u8: m c 2 2", zero}},
      {"QLinearConv", {"u8: n c h w", scale, zero, "u8: m c 2 2", scale, zero, scale, zero}},
      {"MatMulInteger", {"u8: m k", "u8: k p", zero}},
      {"QLinearMatMul", {"u8: m k", scale, zero, "u8: k p", scale, zero, scale, zero}},
  };
}

}  // namespace vellum::test::empty_tensors
