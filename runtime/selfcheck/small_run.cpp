#include "selfcheck/small_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exec/executor.hpp"

namespace vellum {
namespace {

// Winograd's larger tile loses a few more digits than other kernels in fp32.
constexpr double kBoundFp32 = 1e-3, kBoundFp16 = 3e-2;

// A NaN of the device is as wrong as can be; one of the host, which has none for these inputs, would be, too.
double relative_error(const HostTensor& got, const HostTensor& want) {
  const std::vector<float> a = got.to_floats(), b = want.to_floats();
  double largest = 1, difference = 0;
  for (const float value : b) largest = std::max<double>(largest, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(apart <= difference)) difference = apart;
    if (std::isnan(difference)) break;
  }
  return difference / largest;
}

}  // namespace

double error_bound(Precision precision) { return precision == Precision::fp32 ? kBoundFp32 : kBoundFp16; }

double error_on_device(const std::shared_ptr<gpu::Context>& context, Program program,
                       const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& want) {
  Executor executor(context, compile_program(context, std::move(program)));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  double error = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double one = relative_error(executor.output(i), want[i]);
    if (!(one <= error)) error = one;
    if (std::isnan(error)) break;
  }
  return error;
}

}  // namespace vellum
