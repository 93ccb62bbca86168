// What every sample does in the same way: its options, opening model and device, and saying what went wrong.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/image.hpp"
#include "vellum/vellum.hpp"

namespace CLI {
class App;
}

namespace vellum::samples {

struct RunOptions {
  std::string photo;
  std::string output;  // the picture to write
  std::string device;
  std::string cache_folder;
  StorageChoice storage = StorageChoice::automatic;
  Precision precision = Precision::fp32;
  bool reuse_table = false;
};

// The photo as the next positional argument, and --output, --device, --cache, --storage, --precision and
// --reuse-table. `output`: the picture to write where the user names none.
void add_photo_options(CLI::App& app, RunOptions& options, const char* output);

// An option whose value lies in 0..largest and has a default.
void add_fraction(CLI::App& app, const char* name, float& value, const char* help, double largest = 1);

// As Model::load; where the file is absent, the error says which command fetches the models of the samples.
Model load_model(const std::filesystem::path& path);

// Opens what --device names, or the best, and tells the user which it is.
Device open_device(const RunOptions& options);

// A session as the options want it, its warnings told to the user. `shapes`: of inputs that the model leaves
// open.
Session open_session(const Device& device, const Model& model, const RunOptions& options,
                     const InputShapes& shapes = {});

// The side of the only input, of shape [1, side, side, channels]. Throws vellum::Error (invalid_argument) for
// another model, which is "no `kind`".
int square_input_side(const Model& model, int channels, const char* kind);

// Which textures carried the session's tensors, where --reuse-table asks for it.
void print_reuse_table(const Session& session, const RunOptions& options);

// Writes the picture to --output and tells the user.
void write_photo(const Image& image, const RunOptions& options);

// Parses the command line and runs the sample. Returns the exit status: 0 done, 1 the work failed (one line
// on stderr), 2 usage.
int run_sample(CLI::App& app, int argc, char** argv, const std::function<void()>& run);

}  // namespace vellum::samples
