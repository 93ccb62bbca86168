// Takes the place of quantize/ in the library that reads packed models alone: it writes no ONNX files.
#include "vellum/error.hpp"
#include "vellum/quantize.hpp"

namespace vellum {
namespace {

[[noreturn]] void refuse_to_quantize() {
  throw Error(ErrorCode::unsupported,
              "this library (Vellum::runtime) quantises no models; use `vellum quantize`, or link "
              "Vellum::vellum");
}

}  // namespace

QuantizedModel quantize(const Device&, const Model&, size_t, const QuantizeExample&, const QuantizeOptions&) {
  refuse_to_quantize();
}

std::string quantized_model_svg(const std::string&, const QuantizedModel&) { refuse_to_quantize(); }

}  // namespace vellum
