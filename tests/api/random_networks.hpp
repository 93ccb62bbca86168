// Random networks of the operators that memory planning treats specially.
#pragma once

#include <cstdint>

#include "support/onnx_builder.hpp"

namespace vellum::test {

// Input "x"; outputs "y" and "z". The same network for the same seed everywhere.
OnnxModel random_network(uint32_t seed);
Shape random_network_input(uint32_t seed);

}  // namespace vellum::test
