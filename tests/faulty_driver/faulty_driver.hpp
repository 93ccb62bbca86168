// A layer between Vellum and the Vulkan loader that imitates faults of GPU drivers (docs/drivers.md), those
// that end the process among them.
#pragma once

#include <vulkan/vulkan_core.h>

#include <string>

namespace vellum::test {

enum class DriverFault {
  none,
  // The process ends (SIGKILL stands for an access of memory that is not the driver's) while the driver
  ends_in_pipeline,        // compiles the shader
  ends_in_dispatch,        // runs the shader
  ends_in_stored_cache,    // reads a pipeline cache that it wrote itself
  ends_in_matrices_query,  // is asked for its cooperative matrices
  // The driver reports the error.
  refuses_pipeline,          // VK_ERROR_UNKNOWN for the shader
  loses_device,              // in a dispatch of the shader
  hangs,                     // in a dispatch of the shader: its fence is never signalled
  loses_device_at_work,      // the same, and the process ends if memory, buffers, commands or fences are
                             // destroyed before a queue was waited for: the GPU still uses them
  refuses_concurrent_waits,  // VK_ERROR_DEVICE_LOST for a fence while another thread waits; any shader
  // Nothing is reported.
  computes_nothing,  // dispatches of the shader write nothing
  skips_some_runs,   // every fifth submit with the shader does nothing
  miscompiles,       // the shader multiplies where it should add; halves and integers are right
  truncates_halves,  // conversions of floats to halves cut off bits; any shader
  answers_late,      // VK_NOT_READY for the first three questions for results of queries
  wrong_workgroups,  // every ninth submit with a shader in workgroups of a shape does nothing; `shader` is
                     // the shape, "8x8"
  drops_workgroups,  // dispatches of 32,768 or more workgroups along x run half of them; any shader
  recycles_wrongly,  // a dispatch writes nothing where an earlier one of its commands wrote; any shader
};

// Vulkan's functions have no user pointer, so the state is global; only one exists at a time.
class FaultyDriver {
 public:
  // shader: a name in the shader (OpName), such as that of its parameter block.
  FaultyDriver(DriverFault fault, std::string shader);
  ~FaultyDriver();
  FaultyDriver(const FaultyDriver&) = delete;
  FaultyDriver& operator=(const FaultyDriver&) = delete;

  // For ContextOptions::get_instance_proc_addr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;
};

}  // namespace vellum::test
