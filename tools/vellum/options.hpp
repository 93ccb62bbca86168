// The options of every command, and their conversion to options of the library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace vellum::cli {

// The values of the options that every command has.
struct Options {
  DeviceOptions device;
  SessionOptions session;
  std::string limits;
  std::vector<std::string> shapes, values, states;
  double wait_limit = DeviceOptions().wait_limit_ms / 1e3;  // seconds
  std::vector<std::string> load_limits;                     // NAME=N
  std::string signature;                                    // empty: the file's default
  bool integers = false;                                    // --precision int8: allow_int8()
  bool json = false;
};

// Adds the options to a command. `strategies`: the help text of its --strategy.
void add_options(CLI::App& command, Options& options, const std::string& strategies);

// Adds the argument MODEL.
CLI::Option* add_model(CLI::App& command, std::string& file);

// Lets --precision also be int8: load_model() then returns the model as `vellum quantize` would make it. For
// commands about memory and time, not about results.
void allow_int8(CLI::App& command, Options& options);

// Returns the value of --precision.
std::string precision_word(const Options& options);

// Adds --in-flight, which not every command has.
void add_in_flight(CLI::App& command, Options& options, const std::string& help);

// Throw Error(invalid_argument) for an invalid shape or value. model_file: the model of --value, which is
// only read if that option is given; empty for commands with several models.
SessionOptions session_options(const Options& options, const std::string& model_file);
InputShapes input_shapes(const Options& options);
InputTensors input_values(const Options& options, const Model& model);
LoadLimits load_limits(const Options& options);
// Loads the command's MODEL with --signature and --load-limit.
Model load_model(const std::string& file, const Options& options);

// Opens the device that the options name. The library's warnings and errors go to stderr.
class OpenedDevice {
 public:
  explicit OpenedDevice(const Options& options);
  const Device& device() const { return *device_; }
  // Throws Error(internal) if the validation layer reported anything.
  void check_validation() const;

 private:
  bool validation_;
  std::optional<Device> device_;
};

// Opens the device if the options name one. For commands that only need a device's limits: without a device
// they use the minimum that Vellum supports.
std::optional<OpenedDevice> open_if_named(const Options& options);

// Throws Error(invalid_argument) if --caps and --device are both given to a command that takes one of them.
void require_caps_or_device(const std::string& caps, const Options& options);

// Reads the argument of --caps: android_baseline_2022, or a file of `vellum devices --save-caps`.
Caps read_caps(const std::string& name);
// Returns the name of the caps that read_caps() returns; the name of the Android Baseline 2022 profile if
// `name` is empty.
std::string caps_name(const std::string& name);
// Returns the line above tables that are for a device: its name, and how to name another if none was named.
std::string device_line(const std::string& device, bool is_default);

}  // namespace vellum::cli
