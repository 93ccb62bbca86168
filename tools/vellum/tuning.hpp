// `vellum tune`, and --tune of the commands that run a model.
#pragma once

#include <string>

#include "options.hpp"
#include "vellum/tune.hpp"

namespace CLI {
class App;
}

namespace vellum::cli {

// Arguments of the command line for tuning.
struct TuneArguments {
  bool tune = false;
  double seconds = 0;
};

// Adds --tune and --tune-seconds.
void add_tune_options(CLI::App& command, TuneArguments& arguments);

// Calls tune() and shows its progress on stderr, on a terminal as a line that is overwritten.
TuneReport tune_and_show(const Device& device, const Model& model, const SessionOptions& options,
                         const TuneOptions& tune_options);
// Tunes if the arguments request it. Prints the gain in one line on stderr, except with --json.
void tune_if_requested(const TuneArguments& arguments, const Options& options, const Device& device,
                       const Model& model, const SessionOptions& session);

}  // namespace vellum::cli
