// vellum devices: what there is, and what Vellum will use of it.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "calibrate.hpp"
#include "commands.hpp"
#include "io/file_name.hpp"
#include "io/files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "vellum/caps.hpp"

namespace vellum::cli {
namespace {

nlohmann::json to_json(const DeviceInfo& device) {
  return {{"index", device.index},
          {"uuid", uuid_text(device.uuid)},
          {"vendor_id", device.vendor_id},
          {"device_id", device.device_id},
          {"name", device.name},
          {"type", device.type},
          {"driver", device.driver},
          {"api_version", device.api_version},
          {"preferred_storage", device.preferred_storage},
          {"fp16_arithmetic", device.fp16_arithmetic},
          {"subgroup_size", device.subgroup_size},
          {"cooperative_matrices", device.cooperative_matrices},
          {"timestamp_period_ns", device.timestamp_period_ns},
          {"max_image_dimension_2d", device.max_image_dimension_2d},
          {"max_image_dimension_3d", device.max_image_dimension_3d},
          {"max_storage_buffer_range", device.max_storage_buffer_range}};
}

// One block for each device: as wide as a terminal, whatever the device's name.
std::string text(const DeviceInfo& device) {
  const std::string head = std::to_string(device.index) + "  " + one_line(device.name) + "\n";
  Table table;
  table.column("");
  table.column("type");
  table.column(device.type);
  const auto line = [&](const char* what, const std::string& value) { table.row({"", what, value}); };
  line("driver", device.driver);
  line("Vulkan", device.api_version);
  line("UUID", uuid_text(device.uuid));
  line("storage of tensors", device.preferred_storage);
  line("fp16 arithmetic", device.fp16_arithmetic ? "yes" : "no");
  line("cooperative matrices", device.cooperative_matrices);
  line("timestamps", device.timestamp_period_ns > 0 ? "yes" : "no");
  line("largest image", grouped(device.max_image_dimension_2d) + " in 2D, " +
                            grouped(device.max_image_dimension_3d) + " in 3D");
  line("largest buffer", grouped(device.max_storage_buffer_range) + " bytes");
  return head + table.text();
}

std::string text(const std::vector<DeviceInfo>& devices) {
  if (devices.empty())
    return "There is no Vulkan 1.1 device here. Mesa's lavapipe runs on any CPU (Debian: "
           "mesa-vulkan-drivers).\n";
  std::string all;
  for (const DeviceInfo& device : devices) all += (all.empty() ? "" : "\n") + text(device);
  return all;
}

}  // namespace

Command add_devices(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("devices", "List the Vulkan devices, and the features of each that Vellum uses");
  auto save_caps = std::make_shared<std::string>();
  command->add_option("--save-caps", *save_caps,
                      "write the caps of --device (default: the one that Vellum would choose) to this file");
  auto calibrates = std::make_shared<bool>(false);
  command->add_flag(
      "--calibrate", *calibrates,
      "measure in seconds what the driver of --device takes of a process, if it runs on the CPU, for "
      "estimates on this machine");
  add_options(*command, *options, "has no effect here");
  return {command, [options, save_caps, calibrates] {
            std::optional<MemoryCalibration> calibration;
            if (*calibrates) calibration = calibrate(MemoryMeter(), *options);
            std::vector<DeviceInfo> found;
            if (!save_caps->empty()) {
              const std::string text = Caps::of(OpenedDevice(*options).device()).json();
              io::write_text(*save_caps, text);
            }
            if (options->device.device.empty() && options->limits.empty())
              found = devices();
            else
              found.push_back(OpenedDevice(*options).device().info());
            if (!options->json) {
              if (calibration)
                print(to_text(*calibration, io::FileName(options->device.cache_folder).text()));
              return print(text(found));
            }
            nlohmann::json list = nlohmann::json::array();
            for (const DeviceInfo& device : found) list.push_back(to_json(device));
            nlohmann::json document{{"devices", list}};
            if (calibration) document["calibration"] = to_json(*calibration);
            print_json(document);
          }};
}

}  // namespace vellum::cli
