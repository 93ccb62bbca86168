// A part of the interpreter's graph, and its import.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "import/tflite/subgraph.hpp"
#include "lite_api.hpp"

namespace vellum::lite {

// Nodes of the interpreter that run as one. Tensors are the interpreter's numbers.
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
// Returns whether the file has the values of the tensor.
bool is_constant(const TfLiteTensor& tensor);

// "CONV_2D #5 'features/conv'".
std::string describe(TfLiteContext* context, int node);
// Returns why the importer does not read the node; empty if it may.
std::string refusal(TfLiteContext* context, int node);
// Returns a part whose outputs are all results of its nodes.
Part part_of(TfLiteContext* context, std::vector<int> nodes);

enum class Shapes : uint8_t {
  declared,  // those of the interpreter's tensors; a dimension is open where the file leaves it open
  open,      // all dimensions of inputs and results but the last are open
};

// The part as a TFLite file without weights: operators, their options and tensors. It stays valid while the
// interpreter exists, because weights are read in its memory.
struct Description {
  flatbuffers::DetachedBuffer bytes;
  tflite::OutsideBuffers weights;
  std::map<std::string, int> tensors;  // of the interpreter, by their names in the description
  size_t inputs = 0;                   // of the part
};
// May only be called while the interpreter prepares its delegates.
Description describe_part(TfLiteContext* context, const Part& part, Shapes shapes = Shapes::declared);

struct ImportedPart {
  Graph graph;              // its inputs and outputs begin with those of the part, in that order
  std::vector<int> states;  // tensors of the graph's further inputs: operators keep them between runs
};
// The importer of TFLite files reads the description. Throws what import_tflite() throws.
ImportedPart import_part(const Description& description);

}  // namespace vellum::lite
