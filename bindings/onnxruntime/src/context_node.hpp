// EPContext nodes: claimed parts of a model in a compiled form, which is a bundle.
// https://onnxruntime.ai/docs/execution-providers/EP-Context-Design.html
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/record.hpp"
#include "options.hpp"
#include "runtime_api.hpp"

namespace vellum::ort {

// Returns whether the node is an EPContext node of this provider.
bool is_context_node(const OrtNode& node);
// Returns the model of an EPContext node. `model_file`: the file that the graph came from; empty if there is
// none.
Model load_context(const OrtNode& node, const std::filesystem::path& model_file);

// The part of a network for which an EPContext node is made.
struct ContextSource {
  Graph graph;
  GraphRecord record;
  InputShapes shapes;  // for inputs with open shapes: the shapes for which the bundle has kernels
  std::string name;    // of the EPContext node
  std::vector<std::string> inputs, outputs;
  std::filesystem::path model_file;
};

// Returns an EPContext node with a bundle of the part, which the runtime puts into the model that it writes.
// Writes the bundle to a file beside that model, unless the bundle is to be embedded.
OrtNode* make_context_node(ContextSource source, const Device& device, const ProviderOptions& options);

}  // namespace vellum::ort
