#include "platform/host_cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#elif !defined(_WIN32)
#include <fstream>
#include <map>
#include <string_view>
#endif

namespace vellum::platform {
namespace {

std::string architecture() {
#if defined(__x86_64__) || defined(_M_X64)
  return "x86-64";
#elif defined(__aarch64__) || defined(_M_ARM64)
  return "arm64";
#else
  return "another architecture";
#endif
}

#if defined(_WIN32)

std::string processor_name() {
  const char* name = std::getenv("PROCESSOR_IDENTIFIER");  // Windows sets it for every process
  return name ? name : "";
}

#elif defined(__APPLE__)

std::string processor_name() {
  char name[256] = {};
  size_t bytes = sizeof name - 1;
  return sysctlbyname("machdep.cpu.brand_string", name, &bytes, nullptr, 0) == 0 ? name : "";
}

#else

// proc(5), /proc/cpuinfo: of the first processor. x86 has a name, which clouds make vague, and numbers; Arm
// has numbers alone.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string, std::less<> > values;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t end = line.find_last_not_of(" \t", colon - 1);
    const size_t begin = line.find_first_not_of(' ', colon + 1);
    if (colon > 0 && end != std::string::npos && begin != std::string::npos)
      values.emplace(line.substr(0, end + 1), line.substr(begin));
  }
  std::string name;
  const auto add = [&](std::string_view key, std::string_view word) {
    const auto found = values.find(key);
    if (found != values.end())
      name += std::string(name.empty() ? "" : " ") + std::string(word) + found->second;
  };
  add("model name", "");
  if (values.contains("cpu family")) {
    add("cpu family", "family ");
    add("model", "model ");
    add("stepping", "stepping ");
  }
  add("CPU implementer", "implementer ");
  add("CPU part", "part ");
  add("CPU variant", "variant ");
  return name;
}

#endif

}  // namespace

std::string host_cpu() {
  std::string name = processor_name();
  if (name.empty()) name = architecture();
  return name + ", " + std::to_string(std::max(1u, std::thread::hardware_concurrency())) + " threads";
}

}  // namespace vellum::platform
