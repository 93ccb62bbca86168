// Checks the versions and the operators of a model.
#pragma once

#include "import/onnx/operator_type.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Returns the version of the default operator set, at most kNewestOpset. Throws Error if the format or the
// operator set is too old.
int read_versions(const schema::ModelProto& model);

std::string operator_type(const schema::NodeProto& node);

// Throws one Error, which lists every unknown operator of the graph with one of its nodes.
void refuse_unknown_operators(const schema::ModelProto& model);

}  // namespace vellum::onnx
