// The versions of the format and of the operator set that a model is written in.
#pragma once

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// The version of the default operator set, or kNewestOpset where the model is written in a newer one. Throws
// Error where the format or the operator set is too old.
int read_versions(const schema::ModelProto& model);

inline bool is_default_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }
// The operator's name, with its domain unless that is ONNX's: "Conv", "com.microsoft.FusedConv".
std::string operator_type(const schema::NodeProto& node);

// Throws one Error that lists every operator of the graph that Vellum does not know, with a node of each.
void refuse_unknown_operators(const schema::ModelProto& model);

}  // namespace vellum::onnx
