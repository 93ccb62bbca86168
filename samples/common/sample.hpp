// Helpers that all samples share: options, opening models and devices, error messages.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "io/file_name.hpp"
#include "io/image.hpp"
#include "vellum/vellum.hpp"

#ifdef __GNUC__
#define VELLUM_SAMPLE_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define VELLUM_SAMPLE_PRINTF
#endif

namespace CLI {
class App;
}

namespace vellum::samples {

// The values of the options that samples share.
struct RunOptions {
  std::string photo;   // a picture; or several: a folder, a pattern or a video
  std::string output;  // the picture to write; a folder for several
  std::string device;
  std::string cache_folder;
  StorageChoice storage = StorageChoice::automatic;
  Precision precision = Precision::fp32;
  bool reuse_table = false;
  bool json = false;                 // a line of JSON for each photo on stdout, and nothing else there
  std::optional<io::Image> picture;  // the one of several that run_sample() runs the sample for
  std::shared_ptr<nlohmann::ordered_json> line;  // of the photo, with --json
  std::shared_ptr<std::optional<Device>> device_of_all = std::make_shared<std::optional<Device>>();
};

// Adds the photo as the next positional argument, and --output, --json, --device, --cache, --storage,
// --precision and --reuse-table. `output`: the default of --output.
void add_photo_options(CLI::App& app, RunOptions& options, const char* output);

// Adds an option with a value in 0..largest and a default.
void add_fraction(CLI::App& app, const char* name, float& value, const char* help, double largest = 1);

// Does the same as Model::load(). If the file does not exist, the error names the command that fetches the
// models of the samples.
Model load_model(const io::FileName& file);

// Reads the photo.
io::Image load_photo(const RunOptions& options);

// Prints like printf(); nothing with --json, where field() has the same in the photo's line.
void say(const RunOptions& options, const char* format, ...) VELLUM_SAMPLE_PRINTF;

// Returns the field of this name of the photo's line of JSON, which is printed with --json. Fields are in the
// order in which they are asked for.
nlohmann::ordered_json& field(const RunOptions& options, const char* name);

// Opens the device that --device names, or the best one, and prints its name. Returns the same device for all
// of several photos.
Device open_device(const RunOptions& options);

// Makes a session with these options and prints its warnings. `shapes`: of inputs that the model leaves open.
// `pool`: for its intermediate tensors, if it is valid().
Session open_session(const Device& device, const Model& model, const RunOptions& options,
                     const InputShapes& shapes = {}, const MemoryPool& pool = {});

// Returns the side of the only input, which has shape [1, side, side, channels]. Throws vellum::Error
// (invalid_argument) for any other model, with the message that the model is not a `kind`.
int square_input_side(const Model& model, int channels, const char* kind);

// Prints the textures that carried the session's tensors, if --reuse-table is given.
void print_reuse_table(const Session& session, const RunOptions& options);

// Writes the picture to --output and prints its name.
void write_photo(const io::Image& image, const RunOptions& options);

// Parses the command line and runs the sample. Returns the exit status: 0 done, 1 the work failed (one line
// on stderr), 2 usage.
int run_sample(CLI::App& app, int argc, char** argv, const std::function<void()>& run);
// Does the same for a sample with add_photo_options(): `run` is called for each of several photos. A photo
// that cannot be read is reported, and the exit status is then 1. With --json stdout has a line for each
// photo, {"input": ..., the fields, "output": ...} or with an "error", and progress is on stderr.
int run_sample(CLI::App& app, int argc, char** argv, RunOptions& options, const std::function<void()>& run);

}  // namespace vellum::samples
