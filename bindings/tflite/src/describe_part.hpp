// Describes a part of the interpreter's graph as a TFLite file without weights, and imports that.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/tflite/subgraph.hpp"
#include "lite_api.hpp"

namespace vellum::lite {

// Nodes of the interpreter that run as one. Nodes and tensors are indices of the interpreter.
struct Part {
  std::vector<int> nodes;            // in execution order
  std::vector<int> inputs, outputs;  // without constants and states
};

struct NodeView {
  const TfLiteNode* node = nullptr;
  const TfLiteRegistration* registration = nullptr;
};
NodeView node_of(TfLiteContext* context, int index);
const TfLiteTensor& tensor_of(const TfLiteContext* context, int tensor);
// Returns whether the model file contains the values of the tensor.
bool is_constant(const TfLiteTensor& tensor);

// Returns the name of a node in messages: "CONV_2D #5 'features/conv'".
std::string describe(TfLiteContext* context, int node);
// Returns why the importer does not read the node; empty if it may.
std::string refusal(TfLiteContext* context, int node);
// Returns a part of these nodes. All results of the nodes are its outputs.
Part part_of(TfLiteContext* context, std::vector<int> nodes);

enum class Shapes : uint8_t {
  declared,  // those of the interpreter's tensors; a dimension is open where the file leaves it open
  open,      // all dimensions of inputs and results but the last are open
};

// The part as a TFLite file without weights: operators, their options and tensors. `weights` refer to the
// interpreter's memory, so a description is valid as long as the interpreter.
struct Description {
  flatbuffers::DetachedBuffer bytes;
  tflite::OutsideBuffers weights;
  std::map<std::string, int> tensors;  // the interpreter's tensors by their names in the description
  size_t inputs = 0;                   // number of the part's inputs
};
// May only be called while the interpreter prepares its delegates.
Description describe_part(TfLiteContext* context, const Part& part, Shapes shapes = Shapes::declared);

struct ImportedPart {
  Graph graph;              // its inputs and outputs begin with those of the part, in that order
  std::vector<int> states;  // tensors of the graph's further inputs: operators keep them between runs
};
// Imports the description as a TFLite file. Throws the errors of import_tflite().
ImportedPart import_part(const Description& description);

}  // namespace vellum::lite
