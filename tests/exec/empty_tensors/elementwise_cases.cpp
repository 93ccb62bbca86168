#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  for (const char* type : {"Relu",  "LeakyRelu", "Sigmoid", "Tanh",     "HardSigmoid", "HardSwish",
                           "Elu",   "Selu",      "Celu",    "Softplus", "Softsign",    "ThresholdedRelu",
                           "Mish",  "Erf",       "Gelu",    "Clip",     "Abs",         "Neg",
                           "Sign",  "Exp",       "Log",     "Sqrt",     "Reciprocal",  "Floor",
                           "Ceil",  "Round",     "Sin",     "Cos",      "Tan",         "Asin",
                           "Acos",  "Atan",      "Sinh",    "Cosh",     "Asinh",       "Acosh",
                           "Atanh", "IsNaN",     "IsInf",   "Shrink",   "Identity",    "Dropout"})
    cases.push_back({type, {"n c"}});
  for (const char* type : {"Affine", "ScaledTanh", "ParametricSoftplus"})
    cases.push_back({type, {"n c"}, attributes({{"alpha", 2.0f}, {"beta", 0.5f}})});
  cases.push_back({"ImageScaler", {"n 2 h w"}, attributes({{"bias", Attributes::Floats{1, 2}}})});
  cases.push_back({"Not", {"bool: n c"}});
  cases.push_back({"BitwiseNot", {"i32: n c"}});
  for (const float alpha : {1.0f, 2.0f}) cases.push_back({"Swish", {"n c"}, attributes({{"alpha", alpha}})});
  cases.push_back({"SwiGLU", {"n c", "n c"}});
  for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    cases.push_back({type, {"i32: n c", "i32: c"}});
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Pow", "Equal", "Greater", "Less", "GreaterOrEqual",
                           "LessOrEqual", "PRelu"})
    cases.push_back({type, {"n c h w", "c 1 1"}});
  cases.push_back({"Mod", {"n c", "c"}, attributes({{"fmod", int64_t{1}}})});
  for (const char* type : {"And", "Or", "Xor"}) cases.push_back({type, {"bool: n c", "bool: c"}});
  cases.push_back({"BitShift", {"u8: n c", "u8: c"}, attributes({{"direction", std::string("LEFT")}})});
  for (const char* type : {"Min", "Max", "Sum", "Mean"}) cases.push_back({type, {"n c", "c", "n c"}});
  cases.push_back({"Where", {"bool: n c", "n c", "c"}});
  cases.push_back({"Cast", {"n c"}, attributes({{"to", int64_t{7}}})});
  cases.push_back({"CastLike", {"n c", "i64: 2"}});
  return cases;
}

}  // namespace vellum::test::empty_tensors
