// A driver's report about a compiled shader (VK_KHR_pipeline_executable_properties).
#pragma once

#include <string>

namespace vellum {

// A figure by the driver's own name ("VGPRs", "Instruction Count"). A flag is 0 or 1.
struct KernelStatistic {
  std::string name, description;
  double value = 0;
};

// A form of a shader inside the driver's compiler as text, such as its assembly.
struct KernelRepresentation {
  std::string name, description, text;
};

}  // namespace vellum
