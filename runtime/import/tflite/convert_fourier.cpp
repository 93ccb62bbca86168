// Converters of operators on complex numbers. Real and imaginary parts are held in a last dimension of 2
// (Writer::complex_parts).
#include "graph/operators/matmul/real_fourier.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Inputs x, height and width of the transform.
void convert_real_fourier(const Call& call) {
  if (!call.writer.is_complex(call.output())) refuse_model("its output has no complex numbers");
  call.emit(real_fourier_2d(),
            {call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1))}, false);
}

void convert_complex_abs(const Call& call) {
  auto length = std::make_shared<Reduce>();
  length->kind = ReduceKind::l2;
  length->axes = Ints{-1};
  length->keep_dims = false;
  call.emit(std::move(length), {call.writer.complex_parts(call.input(0))}, false);
}

// REAL, IMAG, and a CAST to floats, which keeps the real part.
void convert_complex_part(const Call& call) {
  auto gather = std::make_shared<Gather>();
  gather->axis = -1;
  const Ints part{call.type == "IMAG" ? 1 : 0};
  const ValueId index =
      call.writer.add_constant(call.writer.name_of(call.output()) + "_part", HostTensor::i64({}, part));
  call.emit(std::move(gather), {call.writer.complex_parts(call.input(0)), index}, false);
}

}  // namespace vellum::tflite
