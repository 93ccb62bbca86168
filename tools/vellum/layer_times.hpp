// Times of a session's layers over several runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vellum/vellum.hpp"

namespace vellum::cli {

// Milliseconds of each layer on the device. NaN for layers that run on the host, and without timestamps.
// Medians, because one interrupted run does not change them.
struct LayerTimes {
  std::vector<LayerTime> layers;    // gpu_ms: medians
  std::vector<LayerTime> last_run;  // begin and end in the last run
  std::vector<double> least;        // the time of each layer in its fastest run
  // A driver may write the begin of a layer before earlier layers have ended. `alone` is the time from the
  // end of all earlier layers, or from the layer's begin if that is later, to the layer's end. `pause` is the
  // time from the end of all earlier layers to the layer's begin. Both are medians.
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
