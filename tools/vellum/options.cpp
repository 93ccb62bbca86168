#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string_view>

#include "device_options.hpp"
#include "help.hpp"
#include "io/files.hpp"
#include "option_flags.hpp"
#include "output.hpp"
#include "vellum/quantize.hpp"

namespace vellum::cli {
namespace {

Shape parse_dimensions(std::string_view text, const std::string& whole) {
  Shape shape;
  while (!text.empty() || shape.empty()) {
    int64_t dimension = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), dimension);
    const size_t used = static_cast<size_t>(end - text.data());
    const bool more = used < text.size();
    if (failure != std::errc() || dimension < 0 || (more && text[used] != 'x') || used + 1 == text.size())
      throw Error(ErrorCode::invalid_argument, "--shape " + whole + ": write it like image=1x3x224x224");
    shape.push_back(dimension);
    text.remove_prefix(more ? used + 1 : used);
  }
  return shape;
}

}  // namespace

namespace {

// Options that every user of the tool meets; --help folds the others into a group for experts.
constexpr std::string_view kCommon[] = {"device", "cache_folder",   "precision",    "storage",
                                        "memory", "weights_budget", "memory_budget"};
// Options of the library without a flag of their name, which is added below, by a command, or not at all.
constexpr std::string_view kWithoutFlag[] = {
    "android_baseline_2022",  // --limits
    "wait_limit_ms",          // --wait-limit, in seconds
    "in_flight",              // add_in_flight()
    "profile",                // `vellum profile`
    "state",                  // one flag for each pair
    "cached_shapes",          // a command runs one combination of shapes
};

// The flag of an option, and the group that has it.
struct FlagOfOption {
  explicit FlagOfOption(std::string_view option)
      : name(option == "cache_folder"       ? "cache"
             : option == "tasks_per_submit" ? "submit"
                                            : dashed(option)),
        group(std::ranges::find(kCommon, option) != std::end(kCommon) ? kCommonOptions : kExpertOptions),
        is_left_out(std::ranges::find(kWithoutFlag, option) != std::end(kWithoutFlag)) {}

  std::string name;
  std::string_view group;
  bool is_left_out;
};

// Options that the text of a row names as C does, "memory_budget", become flags.
std::string with_flags(std::string_view what) {
  std::string text;
  for (const std::string& word : CLI::detail::split(std::string(what), ' ')) {
    const std::string_view name = std::string_view(word).substr(0, word.find_last_not_of(",;.:") + 1);
    const bool names_option = name.find('_') != name.npos && std::ranges::all_of(name, [](char c) {
                                return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                              });
    if (!text.empty()) text += ' ';
    text += names_option ? "--" + dashed(word) : word;
  }
  return text;
}

// Adds the flags of the options that the library's tables list.
void add_library_options(CLI::App& command, const char* group, Options& options,
                         const std::string& strategies) {
  OptionFlags flags(command, group);
  const auto help = [&](std::string_view name, const char* what) {
    return name == "strategy" ? strategies : with_flags(what);
  };
#define VELLUM_OPTION(kind, option, member, what)                           \
  if (const FlagOfOption of(#option); of.group == group && !of.is_left_out) \
    flags.kind(of.name, options.device.member, help(#option, what));
#include "vellum/device_options.def"
#define VELLUM_OPTION(kind, option, member, what)                           \
  if (const FlagOfOption of(#option); of.group == group && !of.is_left_out) \
    flags.kind(of.name, options.session.member, help(#option, what));
#include "vellum/session_options.def"
}

void add_common_options(CLI::App& command, Options& options) {
  OptionFlags flags(command, kCommonOptions);
  flags.value("--shape", options.shapes,
              "NAME=1x3x224x224: shape of an input that the model leaves open; repeatable");
  flags.value("--value", options.values,
              "NAME=224,224: values of an input that decides shapes (`vellum inspect` marks it); repeatable");
  flags
      .value("--state", options.states,
             "INPUT=OUTPUT: an input that stays on the device as state, and gets the value of the output in "
             "each run; repeatable. auto: the pairs that names show, such as past_key_values.0.key and "
             "present.0.key")
      ->allow_extra_args(false);
  flags.flag("json", options.json, "print one JSON document and nothing else");
}

// The names of --load-limit: "nodes", "folded-bytes".
std::vector<std::string> load_limit_names() {
  std::vector<std::string> names;
#define VELLUM_OPTION(kind, option, member, what) names.push_back(dashed(#option));
#include "vellum/load_limits.def"
  return names;
}

void add_expert_options(CLI::App& command, Options& options) {
  OptionFlags flags(command, kExpertOptions);
  flags
      .value(
          "--disable-pass", options.session.debug.disabled_passes,
          "leave out a graph pass, to compare; repeatable. One of " + CLI::detail::join(graph_passes(), ", "))
      ->allow_extra_args(false)
      ->check(CLI::IsMember(graph_passes()));
  flags
      .value("--limits", options.limits,
             "android-baseline-2022: assume that the device has only these limits")
      ->check(CLI::IsMember({"android-baseline-2022"}));
  flags
      .value("--wait-limit", options.wait_limit,
             "seconds to wait for one submit before the device counts as hanging; 0: no limit")
      ->check(CLI::Range(0.0, 4e6))
      ->capture_default_str();
  flags
      .value("--load-limit", options.load_limits,
             "NAME=N: a limit on the model file; NAME is one of " +
                 CLI::detail::join(load_limit_names(), ", ") +
                 "; trusts-shaders=1: the SPIR-V of a bundle is not validated; links-within=FOLDER: external "
                 "data may be links to files below it; repeatable")
      ->allow_extra_args(false);
  flags.value("--signature", options.signature,
              "which signature of a TFLite file (`vellum inspect` lists them); serving_default or the first "
              "if left out");
}

}  // namespace

void add_options(CLI::App& command, Options& options, const std::string& strategies) {
  const std::filesystem::path caches = default_cache_folder();
  if (!caches.empty()) options.device.cache_folder = caches / "pipelines";
  add_library_options(command, kCommonOptions, options, strategies);
  add_common_options(command, options);
  add_library_options(command, kExpertOptions, options, strategies);
  add_expert_options(command, options);
}

CLI::Option* add_model(CLI::App& command, std::string& file) {
  return command.add_option("MODEL", file, "ONNX or TFLite file");
}

void allow_int8(CLI::App& command, Options& options) {
  const std::string flag = "--precision", int8 = "int8", group = command.get_option(flag)->get_group(),
                    what = command.get_option(flag)->get_description();
  std::vector<std::string> words = choice_words(options.session.precision);
  const auto set = [&options, words, int8](const std::string& word) {
    options.integers = word == int8;
    if (!options.integers)
      options.session.precision = static_cast<Precision>(std::ranges::find(words, word) - words.begin());
  };
  words.push_back(int8);
  command.remove_option(command.get_option(flag));
  command
      .add_option_function<std::string>(
          flag, set,
          what + "; int8: a model of floats as `vellum quantize` would make it, with meaningless values")
      ->check(CLI::IsMember(words))
      ->default_str(choice_word(options.session.precision))
      ->group(group);
}

std::string precision_word(const Options& options) {
  return options.integers ? "int8" : choice_word(options.session.precision);
}

void add_in_flight(CLI::App& command, Options& options, const std::string& help) {
  command.add_option("--in-flight", options.session.in_flight, help)
      ->check(CLI::Range(1u, 64u))
      ->capture_default_str();
}

InputShapes input_shapes(const Options& options) {
  InputShapes shapes;
  for (const std::string& text : options.shapes) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorCode::invalid_argument, "--shape " + text + ": write it like image=1x3x224x224");
    shapes[text.substr(0, equals)] = parse_dimensions(std::string_view(text).substr(equals + 1), text);
  }
  return shapes;
}

namespace {

std::vector<double> parse_numbers(std::string_view text, const std::string& whole) {
  std::vector<double> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string word(text.substr(0, comma));
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    const bool is_last_word = comma + 1 == text.size();
    if (word.empty() || *end != '\0' || !std::isfinite(numbers.back()) || is_last_word)
      throw Error(ErrorCode::invalid_argument, "--value " + whole + ": write it like sizes=1,3,224,224");
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

}  // namespace

InputTensors input_values(const Options& options, const Model& model) {
  InputTensors values;
  for (const std::string& text : options.values) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorCode::invalid_argument, "--value " + text + ": write it like sizes=1,3,224,224");
    const std::string name = text.substr(0, equals);
    const auto input =
        std::ranges::find_if(model.inputs(), [&](const TensorInfo& info) { return info.has_name(name); });
    if (input == model.inputs().end())
      throw Error(ErrorCode::invalid_argument, "--value " + text + ": the model has no input '" + name + "'");
    const std::vector<double> numbers = parse_numbers(std::string_view(text).substr(equals + 1), text);
    const auto count = static_cast<int64_t>(numbers.size());
    const Shape shape =
        is_known(input->shape) && element_count(input->shape) == count ? input->shape : Shape{count};
    values.insert_or_assign(input->name, Tensor::from<double>(input->dtype, shape, numbers));
  }
  return values;
}

namespace {

// Read the value of a --load-limit. Return false if the text is no such value.
template <typename Number>
bool read_limit(std::string_view text, Number& limit) {
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, limit);
  return failure == std::errc() && stop == end;
}
bool read_limit(std::string_view text, bool& limit) {
  limit = text == "1";
  return limit || text == "0";
}
bool read_limit(std::string_view text, std::filesystem::path& folder) {
  folder = io::FileName(std::string(text)).path();
  return !text.empty();
}

bool set_limit(std::string_view name, std::string_view value, LoadLimits& limits) {
#define VELLUM_OPTION(kind, option, member, what) \
  if (name == dashed(#option)) return read_limit(value, limits.member);
#include "vellum/load_limits.def"
  return false;
}

}  // namespace

LoadLimits load_limits(const Options& options) {
  LoadLimits limits;
  for (const std::string& text : options.load_limits) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view value = std::string_view(text).substr(std::min(equals + 1, text.size()));
    if (!set_limit(text.substr(0, equals), value, limits))
      throw Error(ErrorCode::invalid_argument, "--load-limit " + text +
                                                   ": write it like nodes=1000; the names are " +
                                                   CLI::detail::join(load_limit_names(), ", ") +
                                                   "; trusts-shaders is 0 or 1, links-within a folder");
  }
  return limits;
}

Model load_model(const std::string& file, const Options& options) {
  const Model model = Model::load(io::FileName(file).path(), load_limits(options), options.signature);
  return options.integers ? quantized_stand_in(model, input_shapes(options)) : model;
}

SessionOptions session_options(const Options& options, const std::string& model_file) {
  SessionOptions session = options.session;
  if (!options.values.empty() && model_file.empty())
    throw Error(ErrorCode::invalid_argument, "--value is for commands about one model");
  if (!options.values.empty()) session.input_values = input_values(options, load_model(model_file, options));
  session.input_shapes = input_shapes(options);
  session.state = CLI::detail::join(options.states, ";");
  return session;
}

DeviceOptions device_options(const Options& options) {
  DeviceOptions device = options.device;
  device.wait_limit_ms = static_cast<uint32_t>(std::ceil(options.wait_limit * 1e3));
  device.android_baseline_2022 = !options.limits.empty();
  device.log = [](LogLevel level, std::string_view message) {
    if (level != LogLevel::warning && level != LogLevel::error) return;
    // One insertion, so that lines from several threads do not mix.
    std::cerr << "vellum: " + std::string(level == LogLevel::error ? "error: " : "warning: ") +
                     one_line(message) + "\n";
  };
  return device;
}

OpenedDevice::OpenedDevice(const Options& options)
    : validation_(options.device.validation), device_(Device::open(device_options(options))) {}

void OpenedDevice::check_validation() const {
  if (!validation_ || device_->validation_messages() == 0) return;
  throw Error(ErrorCode::internal, "the validation layer had something to say (" +
                                       std::to_string(device_->validation_messages()) + " messages, above)");
}

std::optional<OpenedDevice> open_if_named(const Options& options) {
  if (options.device.device.empty()) return std::nullopt;
  return std::optional<OpenedDevice>(std::in_place, options);
}

void require_caps_or_device(const std::string& caps, const Options& options) {
  if (!caps.empty() && !options.device.device.empty())
    throw Error(ErrorCode::invalid_argument, "--caps stands for a device: leave out --device");
}

Caps read_caps(const std::string& name) {
  if (name == "android_baseline_2022") return Caps::android_baseline_2022();
  const std::vector<uint8_t> bytes = io::read_file(name);
  return Caps::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}

std::string caps_name(const std::string& name) {
  return name.empty() || name == "android_baseline_2022" ? "Android Baseline 2022"
                                                         : io::FileName(name).stem();
}

std::string device_line(const std::string& device, bool is_default) {
  return one_line(device) +
         (is_default ? " (the default, the least that Vellum supports; --device 0: the device here)\n"
                     : "\n");
}

}  // namespace vellum::cli
