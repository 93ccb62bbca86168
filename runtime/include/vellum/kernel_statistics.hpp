// A driver's report about a compiled shader (VK_KHR_pipeline_executable_properties).
#pragma once

#include <string>

namespace vellum {

// One figure under the driver's own name ("VGPRs", "Instruction Count"). Boolean figures are 0 or 1.
struct KernelStatistic {
  std::string name, description;
  double value = 0;
};

// An internal representation of a shader in the driver's compiler as text, such as its assembly.
struct KernelRepresentation {
  std::string name, description, text;
};

}  // namespace vellum
