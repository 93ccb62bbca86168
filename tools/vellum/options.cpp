#include "options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>

#include "common/files.hpp"
#include "device_options.hpp"
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

void add_options(CLI::App& command, Options& options, const std::string& strategies) {
  const auto add = [&](const std::string& name, auto& value, const std::string& help) {
    return command.add_option(name, value, help)->group("Common options");
  };
  const std::filesystem::path caches = default_cache_folder();
  if (!caches.empty()) options.cache = (caches / "pipelines").string();
  add("--device", options.device, "number or part of the name, see `vellum devices`");
  add("--precision", options.precision, "fp32 or fp16: how tensors and weights are stored")
      ->check(CLI::IsMember({"fp32", "fp16"}))
      ->capture_default_str();
  add("--arithmetic", options.arithmetic,
      "fp32, fp16 (products of halves, of --precision fp16 on devices that can; sums are fp32) or auto (so "
      "where "
      "--tune found it faster)")
      ->check(CLI::IsMember({"fp32", "fp16", "auto"}))
      ->capture_default_str();
  add("--storage", options.storage, "auto, image2d, image3d or buffer: what holds intermediate tensors")
      ->check(CLI::IsMember({"auto", "image2d", "image3d", "buffer"}))
      ->capture_default_str();
  add("--memory", options.memory,
      "shared-objects, offsets (tensors over one another in one arena) or naive (to compare)")
      ->check(CLI::IsMember({"shared-objects", "offsets", "naive"}))
      ->capture_default_str();
  add("--strategy", options.strategy, strategies)->capture_default_str();
  add("--search-ms", options.search_ms, "milliseconds to search for a smaller memory plan; 0: none")
      ->check(CLI::Range(0u, 3'600'000u))
      ->capture_default_str();
  add("--shape", options.shapes,
      "NAME=1x3x224x224: shape of an input that the model leaves open; repeatable");
  add("--disable-pass", options.disabled_passes, "leave out a pass over the graph, to compare; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(graph_passes()));
  add("--submit", options.tasks_per_submit, "submit every N tasks; 0: the whole network at once")
      ->capture_default_str();
  add("--weights-budget", options.weights_budget,
      "bytes (or like 64MiB) of device memory for weights: more stay in host memory and come layer by layer; "
      "0: "
      "all of them")
      ->transform(CLI::AsSizeValue(false));
  add("--winograd", options.winograd,
      "off, f2 or f4: faster 3x3 convolutions whose weights take 1.8 or 4 times the memory; auto: either, "
      "where --tune found it faster")
      ->check(CLI::IsMember({"auto", "off", "f2", "f4"}))
      ->capture_default_str();
  add("--limits", options.limits, "android-baseline-2022: pretend that the device has only these limits")
      ->check(CLI::IsMember({"android-baseline-2022"}));
  add("--cache", options.cache, "folder for compiled shaders; an empty name keeps nothing")
      ->capture_default_str();
  const auto switch_off = [&](const std::string& name, bool& value, const std::string& help) {
    command.add_flag(name, value, help)->group("Common options");
  };
  switch_off("--no-in-place", options.no_in_place, "elementwise operators never write over their input");
  switch_off("--no-views", options.no_views, "concatenations and splits of buffers always copy");
  switch_off("--no-tuned", options.no_tuned,
             "what --tune or `vellum tune` measured on the device is left aside");
  switch_off("--no-reorder", options.no_reorder, "tasks stay in the model's order");
  command
      .add_flag("--validation", options.validation,
                "check with the Vulkan validation layer; fails on any message")
      ->group("Common options");
  command.add_flag("--json", options.json, "print one JSON document and nothing else")
      ->group("Common options");
}

CLI::Option* add_model(CLI::App& command, std::string& file) {
  return command.add_option("MODEL", file, "ONNX or TFLite file");
}

void add_in_flight(CLI::App& command, Options& options, const std::string& help) {
  command.add_option("--in-flight", options.in_flight, help)
      ->check(CLI::Range(1u, 1024u))
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

SessionOptions session_options(const Options& options) {
  SessionOptions session;
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
  session.search_ms = options.search_ms;
  session.in_place = !options.no_in_place;
  session.views = !options.no_views;
  session.reorder = !options.no_reorder;
  session.strategy = options.strategy;
  session.input_shapes = input_shapes(options);
  session.disabled_passes = options.disabled_passes;
  session.tasks_per_submit = options.tasks_per_submit;
  session.weights_budget = options.weights_budget;
  session.winograd = options.winograd == "f2"    ? Winograd::f2
                     : options.winograd == "f4"  ? Winograd::f4
                     : options.winograd == "off" ? Winograd::off
                                                 : Winograd::automatic;
  session.in_flight = options.in_flight;
  session.tuned = !options.no_tuned;
  return session;
}

DeviceOptions device_options(const Options& options) {
  DeviceOptions device;
  device.device = options.device;
  device.cache_folder = options.cache;
  device.validation = options.validation;
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

Caps read_caps(const std::string& name) {
  if (name == "android_baseline_2022") return Caps::android_baseline_2022();
  const std::vector<uint8_t> bytes = samples::read_file(name);
  return Caps::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}

}  // namespace vellum::cli
