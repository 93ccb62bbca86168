// Types of operators and versions of operator sets, for readers of ONNX graphs in any form.
#pragma once

#include <cstdint>
#include <string>

namespace vellum::onnx {

// The newest operator set (of IR 14) whose changes runtime/graph implements or refuses. A model of a newer
// set is read as if it used this one.
inline constexpr int64_t kNewestOpset = 28;

inline bool is_default_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

// Returns the operator's name, prefixed by its domain unless that is the default domain: "Conv",
// "com.microsoft.FusedConv".
inline std::string operator_type(const std::string& domain, const std::string& type) {
  // ONNX Runtime writes this operator without its domain.
  if (type == "SimplifiedLayerNormalization") return "com.microsoft." + type;
  return is_default_domain(domain) ? type : domain + "." + type;
}

}  // namespace vellum::onnx
