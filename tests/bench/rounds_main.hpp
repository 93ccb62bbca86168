// The main() of benchmarks that are called with a number of rounds and then what to measure.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace vellum::bench {

// `measure` returns whether all that it checked was right. Returns the exit status of the program: 1 where it
// was not or an exception was thrown, 2 where arguments are missing. `usage`: "NAME ROUNDS WHAT...".
inline int rounds_main(int argc, char** argv, const char* usage,
                       bool (*measure)(int rounds, const std::vector<std::string>& names)) {
  const std::string text = usage, program = text.substr(0, text.find(' '));
  try {
    if (argc < 3 || std::atoi(argv[1]) < 1) {
      std::fprintf(stderr, "usage: %s\n", usage);
      return 2;
    }
    return measure(std::atoi(argv[1]), {argv + 2, argv + argc}) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: %s\n", program.c_str(), error.what());
    return 1;
  }
}

}  // namespace vellum::bench
