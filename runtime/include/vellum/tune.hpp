// Choosing by measurement: how operators are computed, and what holds tensors, on one device with one driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum {

// Operators of a network that are alike: type, attributes, shapes, precision, what holds their tensors.
struct TunedOperator {
  std::string op, name;  // type, and name of the first of them
  Shape output;          // its first output's
  size_t count = 1;
  size_t candidates = 1;  // ways to compute it, those that are hopeless included
  std::string untuned,
      tuned;  // what the cost model takes, and what was measured to be quickest: "pointwise 8x2"
  double untuned_us = 0, tuned_us = 0;  // microseconds of one; 0: not measured
  bool measured = false;                // by this call; false: known before, or no time was left
};

struct TuneProgress {
  std::string step;  // "storages", "operators", "network"
  size_t done = 0, total = 0;
  const TunedOperator* last = nullptr;  // of the step "operators": what is done
};

struct TuneOptions {
  // No further operator is measured after so many seconds; a later call goes on. 0: no limit.
  double seconds = 0;
  // Measures what was measured before, too.
  bool again = false;
  // Whether to look for what should hold each tensor, where SessionOptions::storage leaves that open. It
  // takes two to four runs of the network that are made for it.
  bool storages = true;
  std::function<void(const TuneProgress&)> progress;
};

struct TuneReport {
  std::vector<TunedOperator> operators;
  std::string storage;  // "buffer", "image2d", "image3d" or "mixed": what holds the tensors now
  // One inference by the clock and device memory of all weights, as the cost model has it and as it is now.
  double untuned_ms = 0, tuned_ms = 0;
  uint64_t untuned_weights_bytes = 0, tuned_weights_bytes = 0;
  double seconds = 0;    // that tuning took
  bool complete = true;  // false: TuneOptions::seconds were over
  // False: what was measured made the network slower as a whole, and is not kept.
  bool kept = true;
  std::vector<std::string> warnings;  // ways that gave wrong results, and are never taken
};

// Measures, for the network as a session with these options would have it, the ways to compute each operator
// (kernel, tile, Winograd's transforms as far as SessionOptions::winograd allows them, which may take more
// memory) and what holds each tensor, and keeps what is quicker: in the device's cache folder, for this
// device, driver and version of Vellum, else for as long as the Device lives. Sessions made on the device
// from now on use it for operators like those that were measured, in any model; sessions that there are stay
// as they are. No other work should be on the device meanwhile. Error(invalid_argument) where an input's
// shape is open, or with a weights_budget.
VELLUM_API TuneReport tune(const Device& device, const Model& model, const SessionOptions& options = {},
                           const TuneOptions& how = {});

// Forgets everything that tune() kept for the device.
VELLUM_API void forget_tuning(const Device& device);

}  // namespace vellum
