// Writer's functions for tensors of complex numbers: real and imaginary parts are a last dimension of 2.
#include "import/names.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

void Writer::refuse_complex(const Tensor& tensor) {
  if (tensor.is_complex) refuse_unsupported("the complex numbers of tensor " + quoted_name(tensor.name));
}

ValueId Writer::complex_parts(int32_t tensor) {
  const Tensor& entry = at(tensor);
  if (!entry.is_complex) refuse_model("tensor " + quoted_name(entry.name) + " has no complex numbers");
  if (entry.file == kNoValue)
    refuse_model("tensor " + quoted_name(entry.name) + " is used before it is computed");
  return entry.file;
}

}  // namespace vellum::tflite
