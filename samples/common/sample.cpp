#include "common/sample.hpp"

#include <CLI/CLI.hpp>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/reuse_table.hpp"
#include "io/picture_series.hpp"
#include "io/terminal.hpp"
#include "usage/wrong_usage.hpp"

namespace vellum::samples {

void add_photo_options(CLI::App& app, RunOptions& options, const char* output) {
  options.output = output;
  options.line = std::make_shared<nlohmann::ordered_json>();
  app.add_option("photo", options.photo,
                 "PNG, JPEG or BMP; or several of them: a folder, a pattern such as "
                 "'photos/*.jpg', or a video (needs ffmpeg)")
      ->required();
  app.add_option("-o,--output", options.output,
                 "annotated picture to write: .png, .jpg or .bmp; the folder of several")
      ->capture_default_str();
  app.add_flag("--json", options.json, "print a line of JSON for each photo; progress is on stderr");
  const std::map<std::string, StorageChoice> storages{{"auto", StorageChoice::automatic},
                                                      {"image2d", StorageChoice::image2d},
                                                      {"image3d", StorageChoice::image3d},
                                                      {"buffer", StorageChoice::buffer}};
  const std::map<std::string, Precision> precisions{{"fp32", Precision::fp32}, {"fp16", Precision::fp16}};
  app.add_option("--device", options.device, "Vulkan device, a number or part of a name (default: the best)");
  app.add_option("--storage", options.storage,
                 "what intermediate tensors live in (default: what suits the device)")
      ->transform(CLI::CheckedTransformer(storages).description("{auto, image2d, image3d, buffer}"));
  app.add_option("--precision", options.precision, "how tensors are stored (default: fp32)")
      ->transform(CLI::CheckedTransformer(precisions).description("{fp32, fp16}"));
  app.add_option("--cache", options.cache_folder, "folder that keeps compiled shaders for the next start");
  app.add_flag("--reuse-table", options.reuse_table,
               "print which textures carried the tensors, and how many each");
}

void add_fraction(CLI::App& app, const char* name, float& value, const char* help, double largest) {
  app.add_option(name, value, help)->check(CLI::Range(0.0, largest))->capture_default_str();
}

Model load_model(const io::FileName& file) {
  try {
    return Model::load(file.path());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    throw Error(ErrorCode::not_found,
                std::string(error.what()) +
                    " (./setup.sh models fetches the models of the samples; ./setup.sh where says whereto)");
  }
}

io::Image load_photo(const RunOptions& options) {
  return options.picture ? *options.picture : io::load_image(options.photo);
}

void say(const RunOptions& options, const char* format, ...) {
  if (options.json) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
}

nlohmann::ordered_json& field(const RunOptions& options, const char* name) { return (*options.line)[name]; }

Device open_device(const RunOptions& options) {
  if (options.device_of_all->has_value()) return **options.device_of_all;
  io::require_encodable(options.output);  // before the work, not after it
  DeviceOptions device_options;
  device_options.device = options.device;
  device_options.cache_folder = io::FileName(options.cache_folder).path();
  Device device = Device::open(device_options);
  std::fprintf(options.json ? stderr : stdout, "running on %s\n", device.info().name.c_str());
  if (options.picture) *options.device_of_all = device;
  return device;
}

Session open_session(const Device& device, const Model& model, const RunOptions& options,
                     const InputShapes& shapes, const MemoryPool& pool) {
  SessionOptions session_options;
  session_options.memory_pool = pool;
  session_options.input_shapes = shapes;
  session_options.storage = options.storage;
  session_options.precision = options.precision;
  Session session(device, model, session_options);
  const std::vector<std::string> warnings = session.warnings();
  if (!warnings.empty())
    std::fprintf(stderr, "warning: %s%s\n", warnings.front().c_str(),
                 warnings.size() == 1
                     ? ""
                     : (", and " + std::to_string(warnings.size() - 1) + " more like this").c_str());
  return session;
}

int square_input_side(const Model& model, int channels, const char* kind) {
  const std::vector<TensorInfo>& inputs = model.inputs();
  if (inputs.size() != 1 || inputs[0].dtype != DType::f32 || inputs[0].shape.size() != 4 ||
      inputs[0].shape[1] != inputs[0].shape[2] || inputs[0].shape[3] != channels || inputs[0].shape[1] < 1) {
    throw Error(ErrorCode::invalid_argument, std::string("the model is no ") + kind +
                                                 ": its input is not float32 [1, side, side, " +
                                                 std::to_string(channels) + "]");
  }
  return static_cast<int>(inputs[0].shape[1]);
}

void print_reuse_table(const Session& session, const RunOptions& options) {
  if (options.reuse_table) std::fputs(reuse_table(session.memory()).c_str(), options.json ? stderr : stdout);
}

void write_photo(const io::Image& image, const RunOptions& options) {
  io::write_image(options.output, image);
  field(options, "output") = options.output;
  say(options, "annotated photo: %s\n", options.output.c_str());
}

namespace {

// The folder of the pictures that are written: by default what the one picture would be called, without
// extension.
std::filesystem::path folder_of_several(const RunOptions& options, bool is_default) {
  const io::FileName output(options.output);
  if (is_default) return output.path().stem();
  if (!output.path().extension().empty())
    throw Error(ErrorCode::invalid_argument, options.output + ": for several photos --output names a folder");
  return output.path();
}

nlohmann::ordered_json described(const std::exception& error) {
  const auto* const known = dynamic_cast<const Error*>(&error);
  return {{"code", known ? to_string(known->code()) : "failed"}, {"message", error.what()}};
}

void print_line(const nlohmann::ordered_json& line) {
  std::puts(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

void run_with_line(RunOptions& options, const std::function<void()>& run) {
  run();
  if (options.json) print_line(*options.line);
  std::fflush(stdout);
}

void run_for_each(RunOptions& options, bool default_output, const std::function<void()>& run) {
  const std::filesystem::path folder = folder_of_several(options, default_output);
  io::PictureSeries series(options.photo);
  std::size_t done = 0, failed = 0;
  while (const std::optional<io::PictureSeries::Item> item = series.next()) {
    const std::string of = series.count() > 0 ? "/" + std::to_string(series.count()) : "";
    std::FILE* const progress = options.json ? stderr : stdout;
    ++done;
    if (item->frame > 0)
      std::fprintf(progress, "frame %zu\n", item->frame);
    else
      std::fprintf(progress, "%zu%s  %s\n", done, of.c_str(), item->file.c_str());
    *options.line = {{"input", item->file}};
    if (item->frame > 0) field(options, "frame") = item->frame;
    try {
      options.picture = io::to_image(series.load());
    } catch (const Error& error) {
      std::fprintf(stderr, "warning: %s\n", error.what());
      field(options, "error") = described(error);
      if (options.json) print_line(*options.line);
      ++failed;
      continue;
    }
    const std::filesystem::path file = folder / io::FileName(item->label + ".png").path();
    std::error_code failure;
    std::filesystem::create_directories(file.parent_path(), failure);
    if (failure) throw Error(ErrorCode::io, "the folder of " + io::FileName(file).text() + " cannot be made");
    options.output = io::FileName(file).text();
    run_with_line(options, run);
  }
  if (failed > 0)
    throw Error(ErrorCode::invalid_argument,
                std::to_string(failed) + " of " + std::to_string(done) + " photos cannot be read");
}

}  // namespace

int run_sample(CLI::App& app, int argc, char** argv, RunOptions& options, const std::function<void()>& run) {
  return run_sample(app, argc, argv, [&] {
    try {
      if (io::is_picture_series(options.photo)) return run_for_each(options, app.count("--output") == 0, run);
      *options.line = {{"input", options.photo}};
      run_with_line(options, run);
    } catch (const std::exception& error) {
      if (options.json) print_line({{"error", described(error)}});
      throw;
    }
  });
}

int run_sample(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  io::prepare_output();
  app.allow_windows_style_options(false);  // a file may be /folder/name there, too
  app.option_defaults()->take_last();      // so that what follows a script's own arguments wins
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), cli::explain(app, error).c_str());
    return 2;
  }
  try {
    run();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(ErrorCode::io, "the output cannot be written");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace vellum::samples
