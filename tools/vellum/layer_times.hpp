// Times of a session's layers over several runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum::cli {

// Milliseconds of each layer on the device. NaN for layers that run on the host, and without timestamps. A
// median stands one interrupted run.
struct LayerTimes {
  std::vector<LayerTime> layers;    // gpu_ms: medians
  std::vector<LayerTime> last_run;  // begin and end as they were
  std::vector<double> least;        // of each layer's fastest run
  // Drivers may write the time of a layer's begin before the layers before it have ended. Medians of the time
  // from the end of all layers before it to its own end, and of the pause before its begin.
  //
  //   before   |-------|
  //   layer  |------------|          alone: |---|, pause: none
  //   after                 |----|   alone: |----|, pause: |-|
  std::vector<double> alone, pause;
};

// Runs the session once, because drivers compile at the first dispatch, and then `runs` times. `label`: of
// the progress line. The session needs SessionOptions::profile and values for all inputs.
LayerTimes measure_layers(Session& session, size_t runs, const std::string& label);

}  // namespace vellum::cli
