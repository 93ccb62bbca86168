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
  // True: every kernel candidate of every operator, also in large sizes. False: one of each algorithm.
  bool all = false;
  // The number of runs of each kernel, 1 to 1,000,000. A run whose result differs in any bit from that of the
  // first run is a failure.
  uint32_t repetitions = 1;
  // Called before each operator with the number of operators that have been checked. Return false to stop.
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

// Checks the layers of a model. The host reference computes the whole network from random inputs. The device
// computes each operator that has a kernel, in the model's shapes and with the kernels of a session with
// these options, and the results are compared. A KernelCheck then is a layer; KernelCheckOptions::only is a
// part of its name, and `all` has no effect. The host determines the time: about a second for 100 million
// multiplications. Throws the errors of Session and of check_kernels(), and Error(not_found) if no layer is
// checked.
VELLUM_API std::vector<KernelCheck> check_layers(const Device& device, const Model& model,
                                                 const SessionOptions& options = {},
                                                 const KernelCheckOptions& check_options = {});

// Returns the driver's work during which earlier processes ended or lost the device, such as "compiled shader
// 'conv_window'". This work is not tried again: other kernels run in its place. Empty without a cache folder.
VELLUM_API std::vector<std::string> crashes(const Device& device);
// Forgets what crashes() returns, and all results of first-use checks on this device. Processes that begin
// afterwards, and sessions of this device that are made afterwards, try again.
VELLUM_API void forget_crashes(const Device& device);
// Keeps the end of this process from being recorded as a crash of a driver. Call it before the process is
// ended on purpose while other threads may use devices, such as in a thread that waits for SIGTERM. It covers
// the drivers' work at the time of the call and all later work. Must not be called in a signal handler.
VELLUM_API void discard_attempts();

}  // namespace vellum
