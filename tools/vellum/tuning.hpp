// `vellum tune`, and --tune of the commands that run a model.
#pragma once

#include <string>

#include "options.hpp"
#include "vellum/tune.hpp"

namespace CLI {
class App;
}

namespace vellum::cli {

// Arguments that ask for tuning.
struct TuneArguments {
  bool tune = false;
  double seconds = 0;
};

// --tune and --tune-seconds.
void add_tune_options(CLI::App& command, TuneArguments& arguments);

// tune() with progress on stderr: a line that is written over on a terminal.
TuneReport tune_and_show(const Device& device, const Model& model, const SessionOptions& options,
                         const TuneOptions& how);
// Tunes if the arguments ask for it; prints its gain in one line on stderr, except with --json.
void tune_if_asked(const TuneArguments& arguments, const Options& options, const Device& device,
                   const Model& model, const SessionOptions& session);

}  // namespace vellum::cli
