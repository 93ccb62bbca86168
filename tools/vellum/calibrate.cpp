#include "calibrate.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "device_options.hpp"
#include "io/file_name.hpp"
#include "output.hpp"

#ifdef __linux__
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace vellum::cli {

MemoryCalibration calibrate(const MemoryMeter& meter, const Options& options) {
#ifndef _WIN32
  // With Mesa's own cache the driver compiles nothing the second time. There are no threads yet.
  setenv("MESA_SHADER_CACHE_DISABLE", "1", 1);
#endif
  return meter.calibrate(device_options(options));
}

std::string to_text(const MemoryCalibration& calibration, const std::string& cache) {
  std::string text = fmt::format(
      "{}: the driver takes {} bytes, {} for each operation of its pipelines, and {} for each operation of "
      "the "
      "largest\n",
      calibration.host, grouped(calibration.driver_bytes), grouped(calibration.bytes_per_operation),
      grouped(calibration.bytes_per_operation_of_largest));
  return text + (cache.empty() ? "kept nowhere: there is no cache folder\n" : "kept in " + cache + "\n");
}

nlohmann::json to_json(const MemoryCalibration& calibration) {
  return {{"host", calibration.host},
          {"driver_bytes", calibration.driver_bytes},
          {"bytes_per_operation", calibration.bytes_per_operation},
          {"bytes_per_operation_of_largest", calibration.bytes_per_operation_of_largest}};
}

#ifdef __linux__

void calibrate_in_subprocess(const Options& options) {
  std::vector<std::string> words{"vellum", "devices", "--calibrate", "--cache",
                                 io::FileName(options.device.cache_folder).text()};
  if (!options.device.device.empty()) words.insert(words.end(), {"--device", options.device.device});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  if (posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) == 0)
    waitpid(process, nullptr, 0);
  posix_spawn_file_actions_destroy(&actions);
}

#else

void calibrate_in_subprocess(const Options&) {}

#endif

}  // namespace vellum::cli
