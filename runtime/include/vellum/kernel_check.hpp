// Compares a device's kernels with the host reference, as `vellum doctor` does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum {

// One small operator that one kernel computed on the device, and its difference from the host's result.
struct KernelCheck {
  std::string operation;  // "Conv 3x3"
  std::string kernel;     // the kernel that computed it: "winograd 2x2"; empty if there is only one
  Precision precision = Precision::fp32;
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::buffer;  // storage of its tensors
  // The largest difference from the host's result, divided by the largest magnitude of that result (of the
  // element, where elements are computed one by one), or by 1 if that is larger. NaN if only one of the two
  // is NaN or infinite. The kernel is right if error <= bound.
  double error = 0, bound = 0;
  std::string failure;  // why it could not be computed; empty if it could

  bool passed() const { return failure.empty() && error <= bound; }
};

struct KernelCheckOptions {
  // Checks only operations whose name begins with this text, e.g. "Conv". Empty: all.
  std::string only;
  // True: every kernel candidate of every operator. False: one of each algorithm.
  bool all = false;
  // How often each kernel runs, 1 to 1,000,000. A result whose bits differ from those of the first is a
  // failure.
  uint32_t repetitions = 1;
  // Called before each operator with the number that have been checked. Return false to stop.
  std::function<bool(size_t done, size_t total)> progress;
};

// Computes small operators of every kind that has kernels, in all storages and both precisions (also with
// fp16 arithmetic where the device has it), and compares them with the host reference. The bounds are wide,
// 1e-3 in fp32 and 3e-2 in fp16, because driver faults cause large errors. Takes seconds on a GPU, minutes on
// a CPU.
// Throws Error(device_lost) if the device is lost, Error(cancelled) if `progress` returned false,
// Error(not_found) if no operation matches `only`, Error(invalid_argument) for repetitions out of range,
// Error(unsupported) in Vellum::runtime, which compiles no shaders. Other errors of an operator become its
// `failure`.
VELLUM_API std::vector<KernelCheck> check_kernels(const Device& device,
                                                  const KernelCheckOptions& options = {});

// Computes each operator of a model that has a kernel on the device, in its own shapes and with the kernels
// of a session with these options, and compares it with the host reference, which computes the whole network
// from random inputs. A KernelCheck is a layer; KernelCheckOptions::only is a part of its name, and `all` has
// no effect. Takes as long as the host needs: a second for 100 million multiplications. Throws what a Session
// throws for this model and what check_kernels() does; Error(not_found) if no layer is checked.
VELLUM_API std::vector<KernelCheck> check_layers(const Device& device, const Model& model,
                                                 const SessionOptions& options = {},
                                                 const KernelCheckOptions& check_options = {});

// Returns what the driver did when an earlier process ended or lost the device, such as "compiled shader
// 'conv_window'". It is not tried again: other kernels run in its place. Empty without a cache folder.
VELLUM_API std::vector<std::string> crashes(const Device& device);
// Forgets what crashes() returns, and all results of first-use checks on this device. Processes that begin
// afterwards, and sessions of this device that are made afterwards, try again.
VELLUM_API void forget_crashes(const Device& device);
// Call it when the process is about to be ended on purpose while other threads may use devices, such as in a
// thread that waits for SIGTERM. What drivers are doing then, or do afterwards, does not count as a crash.
// Must not be called in a signal handler.
VELLUM_API void discard_attempts();

}  // namespace vellum
