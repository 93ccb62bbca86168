#include "platform/process_memory.hpp"

#if defined(_WIN32)
#define PSAPI_VERSION 2  // in kernel32.dll: nothing more to link
#include "platform/windows.hpp"
// After windows.h.
#include <psapi.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#else
#include <fstream>
#include <string>
#include <string_view>
#endif

namespace vellum::platform {

#if defined(_WIN32)

std::optional<ProcessMemory> process_memory() {
  PROCESS_MEMORY_COUNTERS counters{};
  if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return std::nullopt;
  return ProcessMemory{counters.WorkingSetSize, counters.PeakWorkingSetSize};
}

bool reset_peak() { return false; }

#elif defined(__APPLE__)

std::optional<ProcessMemory> process_memory() {
  mach_task_basic_info info{};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info), &count) !=
      KERN_SUCCESS)
    return std::nullopt;
  return ProcessMemory{info.resident_size, info.resident_size_max};
}

bool reset_peak() { return false; }

#else

// Linux and Android: proc(5), /proc/pid/status and /proc/pid/clear_refs.
std::optional<ProcessMemory> process_memory() {
  std::ifstream status("/proc/self/status");
  ProcessMemory memory;
  for (std::string line; std::getline(status, line);) {
    const std::string_view text(line);
    if (text.starts_with("VmRSS:")) memory.resident = std::stoull(line.substr(6)) * 1024;
    if (text.starts_with("VmHWM:")) memory.peak = std::stoull(line.substr(6)) * 1024;
  }
  if (memory.resident == 0 || memory.peak == 0) return std::nullopt;
  return memory;
}

bool reset_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  return bool(clear << "5" << std::flush);
}

#endif

}  // namespace vellum::platform
