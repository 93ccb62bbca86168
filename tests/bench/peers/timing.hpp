// Shared by the programs that time one engine: floats in files, and the least of some runs as JSON.
//
//   PROGRAM MODEL INPUT.f32 OUTPUT.f32 RUNS SHAPE
//
// feeds the model the floats of INPUT.f32, of SHAPE (1x3x224x224), writes the floats of all its outputs, one
// after the other in the order of their names, to OUTPUT.f32, and prints {"min_ms", "median_ms", "cpu_ms"} of
// RUNS inferences after two more; "cpu_ms" is the CPU time of the process for each. An inference is timed as
// a caller sees it: from floats in host memory to floats in host memory. "load_ms" is the time before the
// first inference, "first_ms" that of the first one. If VELLUM_MEMORY_LAYER names the library of
// memory_layer.cpp, which the Vulkan loader loaded, "loaded_bytes" and "peak_bytes" are the device memory
// after the first inference and the most.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace vellum::bench {

using Floats = std::vector<float>;
using Outputs = std::map<std::string, Floats>;

struct Arguments {
  std::string model;
  Floats input;
  std::string output;
  int runs = 0;
  std::vector<int64_t> shape;
};

inline Floats read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  Floats floats(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(floats.data()),
            static_cast<std::streamsize>(floats.size() * sizeof(float)));
  if (!file) throw std::runtime_error("cannot read " + path);
  return floats;
}

inline void write_floats(const std::string& path, const Outputs& outputs) {
  std::ofstream file(path, std::ios::binary);
  for (const auto& [name, floats] : outputs)
    file.write(reinterpret_cast<const char*>(floats.data()),
               static_cast<std::streamsize>(floats.size() * sizeof(float)));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

inline Arguments parse(int argc, char** argv) {
  if (argc != 6) throw std::runtime_error("usage: MODEL INPUT.f32 OUTPUT.f32 RUNS SHAPE");
  Arguments arguments{argv[1], read_floats(argv[2]), argv[3], std::atoi(argv[4]), {}};
  std::istringstream text(argv[5]);
  size_t elements = 1;
  for (std::string length; std::getline(text, length, 'x');) {
    arguments.shape.push_back(std::atoll(length.c_str()));
    elements *= static_cast<size_t>(arguments.shape.back());
  }
  if (arguments.runs < 1) throw std::runtime_error("RUNS must be 1 or more");
  if (elements != arguments.input.size())
    throw std::runtime_error(std::string(argv[2]) + " does not have the shape " + argv[5]);
  return arguments;
}

inline double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

inline double wall_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Returns a count of the memory layer, or 0 without one.
inline uint64_t layer_bytes(const char* function) {
  const char* const path = std::getenv("VELLUM_MEMORY_LAYER");
  void* const layer = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  auto* const count = layer ? reinterpret_cast<uint64_t (*)()>(dlsym(layer, function)) : nullptr;
  return count ? count() : 0;
}

// The main function: `load` makes the engine ready and returns its inference.
inline int time_engine(int argc, char** argv,
                       const std::function<std::function<Outputs()>(const Arguments&)>& load) {
  try {
    const Arguments arguments = parse(argc, argv);
    const double start = wall_ms();
    const std::function<Outputs()> infer = load(arguments);
    const double loaded = wall_ms();
    write_floats(arguments.output, infer());
    const double first = wall_ms() - loaded;
    const uint64_t loaded_bytes = layer_bytes("vellum_allocated_bytes");
    infer();
    std::vector<double> times;
    const double cpu = cpu_ms();
    for (int run = 0; run < arguments.runs; ++run) {
      const double begin = wall_ms();
      infer();
      times.push_back(wall_ms() - begin);
    }
    const double cpu_of_run = (cpu_ms() - cpu) / arguments.runs;
    std::sort(times.begin(), times.end());
    std::printf(
        "{\"min_ms\": %.4f, \"median_ms\": %.4f, \"cpu_ms\": %.4f, \"load_ms\": %.4f, \"first_ms\": %.4f, "
        "\"loaded_bytes\": %llu, \"peak_bytes\": %llu}\n",
        times.front(), times[times.size() / 2], cpu_of_run, loaded - start, first,
        static_cast<unsigned long long>(loaded_bytes),
        static_cast<unsigned long long>(layer_bytes("vellum_peak_bytes")));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace vellum::bench
