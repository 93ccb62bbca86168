// Shared by the programs that time one engine: floats in files, and the least of some runs as JSON.
//
//   PROGRAM MODEL INPUT.f32 OUTPUT.f32 RUNS SHAPE
//
// feeds the model the floats of INPUT.f32, of SHAPE (1x3x224x224), writes the floats of all its outputs, one
// after the other in the order of their names, to OUTPUT.f32, and prints {"min_ms", "median_ms"} of RUNS
// inferences after two more. An inference is timed as a caller sees it: from floats in host memory to floats
// in host memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

// The main function: `load` makes the engine ready and returns its inference.
inline int time_engine(int argc, char** argv,
                       const std::function<std::function<Outputs()>(const Arguments&)>& load) {
  try {
    const Arguments arguments = parse(argc, argv);
    const std::function<Outputs()> infer = load(arguments);
    write_floats(arguments.output, infer());
    infer();
    std::vector<double> times;
    for (int run = 0; run < arguments.runs; ++run) {
      const auto start = std::chrono::steady_clock::now();
      infer();
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"min_ms\": %.4f, \"median_ms\": %.4f}\n", times.front(), times[times.size() / 2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace vellum::bench
