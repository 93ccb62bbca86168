// vellum doctor: whether a device computes what it should.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "io/files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "reports.hpp"
#include "vellum/kernel_check.hpp"

namespace vellum::cli {
namespace {

constexpr uint32_t kThorough = 200;  // repetitions

struct DoctorArguments {
  Options options;
  std::string model, report, only;
  bool all = false, thorough = false, forget = false;
};

std::string precision_text(const KernelCheck& check) {
  if (check.arithmetic == Arithmetic::fp16) return "fp16, halves multiplied";
  return check.precision == Precision::fp16 ? "fp16" : "fp32";
}

std::string storage_text(StorageChoice storage) {
  return storage == StorageChoice::automatic ? "auto"
         : storage == StorageChoice::buffer  ? "buffer"
         : storage == StorageChoice::image2d ? "image2d"
                                             : "image3d";
}

std::string result_text(const KernelCheck& check) {
  if (!check.failure.empty()) return one_line(check.failure);
  return fmt::format("error {:.2g}, at most {:.2g} is right", check.error, check.bound);
}

std::string failures_table(const std::vector<KernelCheck>& checks) {
  Table table;
  for (const char* title : {"wrong: operator", "kernel", "precision", "storage", "result"})
    table.column(title);
  for (const KernelCheck& check : checks)
    if (!check.passed())
      table.row({check.operation, check.kernel, precision_text(check), storage_text(check.storage),
                 result_text(check)});
  return table.text();
}

std::string device_text(const DeviceInfo& device) {
  return fmt::format(
      "{} ({}), {}, Vulkan {}\ntensors in: {}; fp16 arithmetic: {}; cooperative matrices: {}\n", device.name,
      device.type, device.driver, device.api_version, device.preferred_storage,
      device.fp16_arithmetic ? "yes" : "no", device.cooperative_matrices);
}

std::string crashes_text(const std::vector<std::string>& crashes) {
  std::string text;
  for (const std::string& crash : crashes)
    text += "not tried again: an earlier process ended, or lost the device, while the driver " + crash + "\n";
  return text;
}

nlohmann::json report_json(const Device& device, const std::vector<KernelCheck>& checks, double seconds) {
  nlohmann::json list = nlohmann::json::array();
  for (const KernelCheck& check : checks)
    list.push_back({{"operation", check.operation},
                    {"kernel", check.kernel},
                    {"precision", precision_text(check)},
                    {"storage", storage_text(check.storage)},
                    {"passed", check.passed()},
                    {"error", check.error},
                    {"bound", check.bound},
                    {"failure", check.failure}});
  nlohmann::json report = report_head("doctor", device);
  report["seconds"] = seconds;
  report["checks"] = std::move(list);
  return report;
}

std::vector<KernelCheck> check_with_progress(const Device& device, const DoctorArguments& arguments) {
  Progress progress("doctor");
  const KernelCheckOptions options{.only = arguments.only,
                                   .all = arguments.all || arguments.thorough,
                                   .repetitions = arguments.thorough ? kThorough : 1,
                                   .progress = [&](size_t done, size_t total) {
                                     progress.show(done, total);
                                     return true;
                                   }};
  if (arguments.model.empty()) return check_kernels(device, options);
  return check_layers(device, load_model(arguments.model, arguments.options),
                      session_options(arguments.options, arguments.model), options);
}

void examine(const DoctorArguments& arguments) {
  const OpenedDevice opened(arguments.options);
  const Device& device = opened.device();
  if (!arguments.options.json) print("vellum " VELLUM_VERSION_TEXT " on " + device_text(device.info()));
  if (arguments.forget) {
    forget_crashes(device);
    if (arguments.options.json)
      print_json(nlohmann::json{{"forgotten", true}});
    else
      print("forgot what crashed, and all results of first-use checks\n");
    return;
  }
  if (!arguments.options.json) print(crashes_text(crashes(device)));
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<KernelCheck> checks = check_with_progress(device, arguments);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const nlohmann::json report = report_json(device, checks, seconds);
  if (!arguments.report.empty()) {
    const std::string text = report.dump(2) + "\n";
    io::write_text(arguments.report, text);
  }
  const auto wrong = static_cast<size_t>(
      std::ranges::count_if(checks, [](const KernelCheck& check) { return !check.passed(); }));
  if (arguments.options.json)
    print_json(report);
  else if (wrong == 0)
    print(fmt::format("checked {} {} in {:.1f} s: all compute what the host does\n", checks.size(),
                      arguments.model.empty() ? "kernels" : "layers", seconds));
  else
    print(failures_table(checks));
  opened.check_validation();
  if (wrong > 0)
    throw Error(ErrorCode::internal,
                fmt::format("{} of {} {} do not compute what the host does on this device; please report it, "
                            "with the file that --report FILE writes",
                            wrong, checks.size(), arguments.model.empty() ? "kernels" : "layers"));
}

}  // namespace

Command add_doctor(CLI::App& app) {
  auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command = app.add_subcommand("doctor", "Check that a device and its driver compute correctly");
  command->add_option("MODEL", arguments->model,
                      "check the layers of this model (ONNX, TFLite or bundle), each in its own shapes");
  command->add_option(
      "--report", arguments->report,
      "write the device's caps and every result to this file (JSON), for a report of a fault");
  command->add_option("--only", arguments->only,
                      "check only the operators whose name begins so, such as Conv; of a model those with "
                      "this in their name");
  command->add_flag("--all", arguments->all, "check every variant of every kernel, which takes minutes");
  command->add_flag("--thorough", arguments->thorough,
                    "as --all, and run each 200 times: the results must be the same");
  command->add_flag("--forget", arguments->forget,
                    "only forget which calls of the driver ended a process, and the results of first-use "
                    "checks");
  add_options(*command, arguments->options, "has no effect here");
  command->footer(
      "Small operators of every kind are computed on the device, in images and buffers, in fp32 and fp16, "
      "and compared\n"
      "with the host's results. With MODEL the operators are its layers, with the options of a session, from "
      "random "
      "inputs.\nExit status 1 if one is wrong. --validation adds Vulkan's validation layer.\n"
      "Examples:\n  vellum doctor --device 1 --report report.json\n  vellum doctor model.onnx --precision "
      "fp16");
  return {command, [arguments] { examine(*arguments); }};
}

}  // namespace vellum::cli
