// Random options of sessions, for comparing ways to run one graph.
#pragma once

#include <cstdint>
#include <string>

#include "vellum/vellum.hpp"

namespace vellum::test {

// Storage, memory mode, planning strategy, what saves memory, passes left out, precision, submits and runs in
// flight: the same for the same seed everywhere, all of them over many seeds. fp16 in one of eight, and only
// if `allow_fp16`.
SessionOptions drawn_options(uint32_t seed, bool allow_fp16);

// On one line, for messages.
std::string describe(const SessionOptions& options);

}  // namespace vellum::test
