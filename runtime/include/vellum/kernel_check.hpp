// Whether a device computes what the host does: what `vellum doctor` shows.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum {

// One small operator, computed by one kernel on the device, and compared with the host.
struct KernelCheck {
  std::string operation;  // "Conv 3x3"
  std::string kernel;  // the kernel that was made to compute it: "winograd 2x2"; empty where there is but one
  Precision precision = Precision::fp32;
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::buffer;  // of its tensors
  // The largest difference from the host, divided by the largest magnitude of the host's result or 1; NaN if
  // the device computed NaN. At most `bound`: right.
  double error = 0, bound = 0;
  std::string failure;  // why it could not be computed; empty: it was

  bool passed() const { return failure.empty() && error <= bound; }
};

struct KernelCheckOptions {
  // Only operations whose name begins so: "Conv"; empty: all.
  std::string only;
  // Every candidate of every operator; otherwise one of each algorithm.
  bool all = false;
  // Called before each operator, with how many have been checked; return false to stop.
  std::function<bool(size_t done, size_t total)> progress;
};

// Computes small operators of every kind that has kernels, in all storages and in both precisions (and with
// halves multiplied, where the device can), and compares them with the host reference. The results of a
// driver's faults are gross, so the bounds are wide: 1e-3 in fp32, 3e-2 in fp16. Seconds on a GPU, minutes
// on a CPU. Throws Error(device_lost) if the device is lost, Error(cancelled) if `progress` stops it,
// Error(not_found) if no operation has the name `only`, Error(unsupported) in Vellum::runtime, which compiles
// no shaders; other errors of an operator become its `failure`.
VELLUM_API std::vector<KernelCheck> check_kernels(const Device& device,
                                                  const KernelCheckOptions& options = {});

}  // namespace vellum
