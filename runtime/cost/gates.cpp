#include "cost/gates.hpp"

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"

namespace vellum {

// Four texels of weights are loaded together, and each is multiplied four times.
double gate_steps(int64_t products, int64_t invocations, int64_t ahead) {
  return products > 0 ? kStepsAround +
                            static_cast<double>(products) / (16.0 * static_cast<double>(invocations * ahead))
                      : 0;
}

bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations) {
  constexpr int64_t kOfItsOwn = 256;  // invocations of squeeze_excite.comp
  if (caps.portability_driver || !device_traits(caps).computes_gates_last) return false;
  const DeviceRates rates = device_rates(caps);
  const double longer = 1e-3 * rates.latency_ns *
                        (gate_steps(products, invocations, device_traits(caps).gate_slices_ahead) -
                         gate_steps(products, kOfItsOwn));
  return longer < rates.launch_us + rates.barrier_us;
}

}  // namespace vellum
