// The parameter blocks of all shaders as the C++ compiler lays them out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "vulkan/spirv_interface.hpp"

namespace vellum::test {

struct DeclaredParameters {
  std::string header;  // "shaders/reduction/softmax.h"
  std::string block;   // "SoftmaxParameters"
  size_t size = 0;     // bytes
  std::vector<gpu::SpirvInterface::Field> fields;
};

std::vector<DeclaredParameters> declared_parameters();

}  // namespace vellum::test
