#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "common/files.hpp"
#include "device_options.hpp"
#include "help.hpp"
#include "output.hpp"

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

// Adds options to a command, in a group that --help folds.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, const char* group) : command_(command), group_(group) {}

  template <typename Value>
  CLI::Option* value(const std::string& name, Value& variable, const std::string& help) {
    return command_.add_option(name, variable, help)->group(group_);
  }
  CLI::Option* choice(const std::string& name, std::string& variable, const std::vector<std::string>& words,
                      const std::string& help) {
    return value(name, variable, help)->check(CLI::IsMember(words))->capture_default_str();
  }
  void flag(const std::string& name, bool& variable, const std::string& help) {
    command_.add_flag(name, variable, help)->group(group_);
  }
  // --NAME and --no-NAME, for what is on by default.
  void toggle(const std::string& name, bool& variable, const std::string& help) {
    flag("--" + name + ",!--no-" + name, variable, help + "; on by default");
  }

 private:
  CLI::App& command_;
  const char* group_;
};

void add_common_options(OptionGroup group, Options& options) {
  const std::filesystem::path caches = default_cache_folder();
  if (!caches.empty()) options.cache = samples::FileName(caches / "pipelines").text();
  group.value("--device", options.device, "number, UUID or part of the name, see `vellum devices`");
  group.choice("--precision", options.precision, {"fp32", "fp16"},
               "element type of stored tensors and weights");
  group.choice("--storage", options.storage, {"auto", "image2d", "image3d", "buffer"},
               "storage of intermediate tensors; auto: the device's default");
  group.choice("--memory", options.memory, {"shared-objects", "offsets", "naive"},
               "how tensors share memory: in shared objects, at offsets of one arena, or not at all");
  group.value("--shape", options.shapes,
              "NAME=1x3x224x224: shape of an input that the model leaves open; repeatable");
  group.value("--value", options.values,
              "NAME=224,224: values of an input that decides shapes (`vellum inspect` marks it); repeatable");
  group
      .value("--weights-budget", options.weights_budget,
             "bytes (or like 64MiB) of device memory for weights; more than that stream to the device layer "
             "by layer. 0: no budget")
      ->transform(CLI::AsSizeValue(false));
  group
      .value("--memory-budget", options.memory_budget,
             "bytes (or like 48MiB) of device memory for weights, tensors and staging together; the session "
             "finds the "
             "quickest way that fits. 0: no budget")
      ->transform(CLI::AsSizeValue(false));
  group.value("--cache", options.cache, "folder for compiled shaders; an empty name keeps nothing")
      ->capture_default_str();
  group.flag("--json", options.json, "print one JSON document and nothing else");
}

void add_expert_options(OptionGroup group, Options& options, const std::string& strategies) {
  group.choice("--arithmetic", options.arithmetic, {"fp32", "fp16", "auto"},
               "precision of products: fp16 needs --precision fp16 and a device that has it; sums are fp32; "
               "auto: fp16 "
               "where tuning found it faster");
  group.choice("--winograd", options.winograd, {"auto", "off", "f2", "f4"},
               "faster 3x3 convolutions whose weights take 1.8 (f2) or 4 (f4) times the memory; auto: where "
               "tuning found it faster");
  group.toggle("tuned", options.tuned, "use what `vellum tune` measured on the device");
  group.value("--strategy", options.strategy, strategies)->capture_default_str();
  group.value("--search-ms", options.search_ms, "milliseconds to search for a smaller memory plan; 0: none")
      ->check(CLI::Range(0u, 3'600'000u))
      ->capture_default_str();
  group.toggle("in-place", options.in_place, "elementwise operators may write over an input");
  group.toggle("views", options.views, "concatenations and splits of buffers need no copy");
  group.toggle("reorder", options.reorder, "tasks may run in another order than the model's");
  group.value("--submit", options.tasks_per_submit, "submit every N tasks; 0: the whole network at once")
      ->capture_default_str();
  group
      .value(
          "--max-submit-ms", options.max_submit_ms,
          "milliseconds of predicted work that a run hands to the device at a time; 0: no limit (default: 16 "
          "on GPUs that may serve a display)")
      ->check(CLI::Range(0u, 3'600'000u));
  group
      .value(
          "--disable-pass", options.disabled_passes,
          "leave out a graph pass, to compare; repeatable. One of " + CLI::detail::join(graph_passes(), ", "))
      ->allow_extra_args(false)
      ->check(CLI::IsMember(graph_passes()));
  group
      .value("--limits", options.limits,
             "android-baseline-2022: assume that the device has only these limits")
      ->check(CLI::IsMember({"android-baseline-2022"}));
  group
      .value("--wait-limit", options.wait_limit,
             "seconds to wait for one submit before the device counts as hanging; 0: no limit")
      ->check(CLI::Range(0.0, 4e6))
      ->capture_default_str();
  group
      .value("--load-limit", options.load_limits,
             "NAME=N: a limit on the model file; NAME is nodes, elements, folded-bytes, "
             "folded-work or nesting; trusts-shaders=1: the SPIR-V of a bundle is not validated; "
             "links-within=FOLDER: external data may be links to files below it; repeatable")
      ->allow_extra_args(false);
  group.value("--signature", options.signature,
              "which signature of a TFLite file (`vellum inspect` lists them); serving_default or the first "
              "if left out");
  group.flag("--budget-allows-fp16", options.budget_allows_fp16,
             "with --memory-budget: store tensors and weights in fp16 where fp32 does not fit");
  group.choice(
      "--self-check", options.self_check, {"auto", "off", "on"},
      "whether kernels are checked against the host at their first use on the device; auto: on GPUs");
  group.flag("--check-finite", options.check_finite, "NaN and infinities in inputs and outputs are errors");
  group.flag("--validation", options.validation,
             "check with the Vulkan validation layer; any message fails the command");
}

}  // namespace

void add_options(CLI::App& command, Options& options, const std::string& strategies) {
  add_common_options({command, kCommonOptions}, options);
  add_expert_options({command, kExpertOptions}, options, strategies);
}

CLI::Option* add_model(CLI::App& command, std::string& file) {
  return command.add_option("MODEL", file, "ONNX or TFLite file");
}

void add_in_flight(CLI::App& command, Options& options, const std::string& help) {
  command.add_option("--in-flight", options.in_flight, help)
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

LoadLimits load_limits(const Options& options) {
  LoadLimits limits;
  for (const std::string& text : options.load_limits) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    if (name == "links-within" && equals + 1 < text.size()) {
      limits.links_within = samples::FileName(text.substr(equals + 1)).path();
      continue;
    }
    uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(std::min(text.data() + equals + 1, end), end, number);
    uint64_t* const limit = name == "nodes"          ? &limits.nodes
                            : name == "elements"     ? &limits.elements
                            : name == "folded-bytes" ? &limits.folded_bytes
                            : name == "folded-work"  ? &limits.folded_work
                                                     : nullptr;
    const bool nesting = name == "nesting" && number <= std::numeric_limits<uint32_t>::max();
    const bool trusts_shaders = name == "trusts-shaders" && number <= 1;
    if (failure != std::errc() || stop != end || !(limit || nesting || trusts_shaders))
      throw Error(ErrorCode::invalid_argument,
                  "--load-limit " + text +
                      ": write it like nodes=1000; the names are nodes, elements, folded-bytes, folded-work, "
                      "nesting, trusts-shaders, which is 0 or 1, and links-within, which is a folder");
    if (limit) *limit = number;
    if (nesting) limits.nesting = static_cast<uint32_t>(number);
    if (trusts_shaders) limits.trusts_shaders = number == 1;
  }
  return limits;
}

Model load_model(const std::string& file, const Options& options) {
  return Model::load(samples::FileName(file).path(), load_limits(options), options.signature);
}

SessionOptions session_options(const Options& options, const std::string& model_file) {
  SessionOptions session;
  if (!options.values.empty() && model_file.empty())
    throw Error(ErrorCode::invalid_argument, "--value is for commands about one model");
  if (!options.values.empty()) session.input_values = input_values(options, load_model(model_file, options));
  session.precision = options.precision == "fp16" ? Precision::fp16 : Precision::fp32;
  session.arithmetic = options.arithmetic == "fp16"   ? Arithmetic::fp16
                       : options.arithmetic == "auto" ? Arithmetic::automatic
                                                      : Arithmetic::fp32;
  session.storage = options.storage == "image2d"   ? StorageChoice::image2d
                    : options.storage == "image3d" ? StorageChoice::image3d
                    : options.storage == "buffer"  ? StorageChoice::buffer
                                                   : StorageChoice::automatic;
  session.memory = options.memory == "naive"     ? MemoryMode::naive
                   : options.memory == "offsets" ? MemoryMode::offsets
                                                 : MemoryMode::shared_objects;
  session.planning.search_ms = options.search_ms;
  session.planning.in_place = options.in_place;
  session.planning.views = options.views;
  session.planning.reorder = options.reorder;
  session.planning.strategy = options.strategy;
  session.input_shapes = input_shapes(options);
  session.debug.disabled_passes = options.disabled_passes;
  session.tasks_per_submit = options.tasks_per_submit;
  session.max_submit_ms = options.max_submit_ms;
  session.weights_budget = options.weights_budget;
  session.memory_budget = options.memory_budget;
  session.budget_allows_fp16 = options.budget_allows_fp16;
  session.winograd = options.winograd == "f2"    ? Winograd::f2
                     : options.winograd == "f4"  ? Winograd::f4
                     : options.winograd == "off" ? Winograd::off
                                                 : Winograd::automatic;
  session.in_flight = options.in_flight;
  session.tuned = options.tuned;
  session.check_finite = options.check_finite;
  return session;
}

DeviceOptions device_options(const Options& options) {
  DeviceOptions device;
  device.device = options.device;
  device.cache_folder = samples::FileName(options.cache).path();
  device.validation = options.validation;
  device.self_check = options.self_check == "on"    ? SelfCheck::on
                      : options.self_check == "off" ? SelfCheck::off
                                                    : SelfCheck::automatic;
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
    : validation_(options.validation), device_(Device::open(device_options(options))) {}

void OpenedDevice::check_validation() const {
  if (!validation_ || device_->validation_messages() == 0) return;
  throw Error(ErrorCode::internal, "the validation layer had something to say (" +
                                       std::to_string(device_->validation_messages()) + " messages, above)");
}

std::optional<OpenedDevice> open_if_named(const Options& options) {
  if (options.device.empty()) return std::nullopt;
  return std::optional<OpenedDevice>(std::in_place, options);
}

void require_caps_or_device(const std::string& caps, const Options& options) {
  if (!caps.empty() && !options.device.empty())
    throw Error(ErrorCode::invalid_argument, "--caps stands for a device: leave out --device");
}

Caps read_caps(const std::string& name) {
  if (name == "android_baseline_2022") return Caps::android_baseline_2022();
  const std::vector<uint8_t> bytes = samples::read_file(name);
  return Caps::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}

}  // namespace vellum::cli
