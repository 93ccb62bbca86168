#include <algorithm>
#include <string>
#include <vector>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/run_with_zeros.hpp"
#include "api/session_impl.hpp"
#include "cost/device_traits.hpp"
#include "exec/input_integers.hpp"
#include "platform/process_memory.hpp"
#include "vellum/estimate.hpp"
#include "vulkan/heap_usage.hpp"

namespace vellum {

namespace {

bool is_state(const Session& session, const std::string& name) {
  return std::ranges::any_of(
      session.states(), [&](const StateInfo& state) { return state.input == name || state.output == name; });
}

// Zeros may be outside of what an input takes: lengths of caches begin at the number of new tokens.
Tensor zeros_for(const Session& session, size_t index, const TensorInfo& input) {
  const auto& impl = *Handles::impl(session);
  if (impl.is_ready()) {
    const Port& port = impl.first_executor().program().inputs[index];
    if (port.type == TensorType{input.dtype, input.shape}) return zeros_of(port);
  }
  return Tensor(input.dtype, input.shape);
}

}  // namespace

void run_with_zeros(Session& session) {
  const std::vector<TensorInfo> inputs = session.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& input = inputs[i];
    if (!is_known(input.shape))
      throw Error(ErrorCode::invalid_argument, "the model leaves the shape of input '" + input.name +
                                                   "' open (" + to_string(input.shape) + "); give one");
    if (!input.decides_shapes && !is_state(session, input.name))
      session.set_input(input.name, zeros_for(session, i, input));
  }
  session.run();
  session.run();
  for (const TensorInfo& output : session.outputs())
    if (!is_state(session, output.name)) session.output(output.name);
}

namespace {

using gpu::MemoryCategory;

VulkanMemory vulkan_memory(const gpu::Context& context) {
  const gpu::MemoryStatistics statistics = context.memory_statistics();
  const auto peak = [&](MemoryCategory category) { return statistics.of(category).peak_bytes; };
  return {.weights = peak(MemoryCategory::weights),
          .in_out = peak(MemoryCategory::in_out),
          .state = peak(MemoryCategory::state),
          .intermediates = peak(MemoryCategory::intermediates) + peak(MemoryCategory::workspace),
          .staging = peak(MemoryCategory::staging) + peak(MemoryCategory::other),
          .peak = statistics.total.peak_bytes};
}

uint64_t more_than(uint64_t value, uint64_t base) { return value > base ? value - base : 0; }

// The tensors' share of what is allocated: padding follows from the program alone.
MemoryUse use_of(const VulkanMemory& vulkan, const MemoryEstimate& estimate) {
  const auto tight = [](uint64_t allocated, uint64_t estimated, uint64_t estimated_tight) {
    return more_than(allocated, more_than(estimated, estimated_tight));
  };
  MemoryUse use;
  use.weights = tight(vulkan.weights, estimate.vulkan.weights, estimate.use.weights);
  use.in_out = tight(vulkan.in_out, estimate.vulkan.in_out, estimate.use.in_out);
  use.state = tight(vulkan.state, estimate.vulkan.state, estimate.use.state);
  use.workspace = estimate.use.workspace;
  use.intermediates = more_than(tight(vulkan.intermediates, estimate.vulkan.intermediates,
                                      estimate.use.intermediates + estimate.use.workspace),
                                use.workspace);
  use.staging = more_than(vulkan.peak, vulkan.weights + vulkan.in_out + vulkan.state + vulkan.intermediates);
  return use;
}

}  // namespace

MemoryMeter::MemoryMeter() {
  if (const auto memory = platform::process_memory()) resident_before_ = memory->resident;
}

MemoryMeasurement MemoryMeter::measure(const std::filesystem::path& model, const SessionOptions& options,
                                       const DeviceOptions& device_options) const {
  return guard([&] {
    MemoryMeasurement measured;
    platform::reset_peak();  // if the system cannot reset it, the peak of all measurements so far counts
    const Device device = Device::open(device_options);
    const gpu::Context& context = *impl(device)->context;
    const std::optional<uint64_t> driver_before = gpu::heap_usage(context);
    const Model loaded = Model::load(model);
    {
      Session session(device, loaded, options);
      run_with_zeros(session);
      if (driver_before) measured.driver_bytes = more_than(*gpu::heap_usage(context), *driver_before);
    }
    measured.vulkan = vulkan_memory(context);
    if (const auto memory = platform::process_memory(); memory && resident_before_)
      measured.process_bytes = more_than(memory->peak, resident_before_);
    measured.estimate = estimate_memory(loaded, options, device);
    measured.use = use_of(measured.vulkan, measured.estimate);
    const uint64_t apart = measured.use.total();
    const ResidentMemory& resident = measured.estimate.resident;
    measured.use.resident = resident.padding + resident.host;
    measured.driver_included = true;
    if (device_traits(context.caps()).allocates_in_the_process && measured.process_bytes)
      measured.use.resident = more_than(*measured.process_bytes, apart);
    else if (measured.driver_bytes)
      measured.use.resident = more_than(*measured.driver_bytes, apart - measured.use.staging) + resident.host;
    else
      measured.driver_included = false;
    return measured;
  });
}

}  // namespace vellum
