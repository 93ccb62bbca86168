// Tuning: measures on a device the fastest kernel of each operator and the best storage of the tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum {

// A group of operators of a network that are equal in type, attributes, shapes, precision and storage of
// their tensors.
struct TunedOperator {
  std::string op, name;   // operator type; name of the first operator of the group
  Shape output;           // shape of the first output
  size_t count = 1;       // operators in the group
  size_t candidates = 1;  // kernel candidates, including those that are too slow to be measured
  // The candidate that the cost model chooses, and the one that was measured to be fastest: "pointwise 8x2".
  std::string untuned, tuned;
  double untuned_us = 0, tuned_us = 0;  // microseconds of one operator; 0: not measured
  bool measured = false;                // measured by this call; false: measured earlier, or no time was left
};

struct TuneProgress {
  std::string step;  // "storages", "operators", "network"
  size_t done = 0, total = 0;
  const TunedOperator* last = nullptr;  // in step "operators": the operator that was measured last
};

struct TuneOptions {
  // Seconds after which no further operator is measured; a later call continues. 0: no limit.
  double seconds = 0;
  // True: measures again what was measured before.
  bool again = false;
  // Whether to find the best storage of each tensor, if SessionOptions::storage is automatic. It makes and
  // runs two to four variants of the network.
  bool storages = true;
  std::function<void(const TuneProgress&)> progress;
};

struct TuneReport {
  std::vector<TunedOperator> operators;
  std::string storage;  // resulting storage of the tensors: "buffer", "image2d", "image3d" or "mixed"
  // Wall time of one inference, and device memory of all weights: with the cost model's choices, and tuned.
  double untuned_ms = 0, tuned_ms = 0;
  uint64_t untuned_weights_bytes = 0, tuned_weights_bytes = 0;
  double seconds = 0;    // the time that tuning took
  bool complete = true;  // false: TuneOptions::seconds ran out
  // False: the tuned choices made the whole network slower and were discarded.
  bool kept = true;
  std::vector<std::string> warnings;  // candidates that computed wrong results, which are never used
};

// Tunes the network that a session with these options runs. It times the kernel candidates of each operator
// (kernel, tile, and Winograd if SessionOptions::winograd allows it, which may take more memory) and the
// storages of the tensors. It stores the times in the device's cache folder for this device, driver and
// version of Vellum; without a cache folder the Device keeps them. Sessions made on the device afterwards use
// the fastest candidate for equal operators of any model; existing sessions do not change. No other work
// should run on the device meanwhile. Throws Error(invalid_argument) if an input's shape is open, or with a
// weights_budget.
VELLUM_API TuneReport tune(const Device& device, const Model& model, const SessionOptions& options = {},
                           const TuneOptions& tune_options = {});

// Deletes everything that tune() stored for the device.
VELLUM_API void forget_tuning(const Device& device);

}  // namespace vellum
