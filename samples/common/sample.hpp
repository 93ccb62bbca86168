// What every sample does in the same way: its options, opening model and device, and saying what went wrong.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "vellum/vellum.hpp"

namespace CLI {
class App;
}

namespace vellum::samples {

struct RunOptions {
  std::string device;
  std::string cache_folder;
  StorageChoice storage = StorageChoice::automatic;
  Precision precision = Precision::fp32;
  bool reuse_table = false;
};

// --device, --cache, --storage, --precision and --reuse-table.
void add_run_options(CLI::App& app, RunOptions& options);

// As Model::load; where the file is absent, the error says which command fetches the models of the samples.
Model load_model(const std::filesystem::path& path);

// Opens what --device names, or the best, and tells the user which it is.
Device open_device(const RunOptions& options);

// A session as the options want it, its warnings told to the user. `shapes`: of inputs that the model leaves
// open.
Session open_session(const Device& device, const Model& model, const RunOptions& options,
                     const InputShapes& shapes = {});

// Parses the command line and runs the sample. Returns the exit status: 0 done, 1 the work failed (one line
// on stderr), 2 usage.
int run_sample(CLI::App& app, int argc, char** argv, const std::function<void()>& run);

}  // namespace vellum::samples
