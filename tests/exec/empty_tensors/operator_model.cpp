#include "operator_model.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace vellum::test::empty_tensors {
namespace {

struct InputType {
  DType dtype = DType::f32;
  std::vector<std::string> dims;  // names or sizes
};

InputType parse(const std::string& text) {
  const std::map<std::string, DType> types = {
      {"i64:", DType::i64}, {"i32:", DType::i32}, {"u8:", DType::u8}, {"bool:", DType::boolean}};
  InputType parsed;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (const auto found = types.find(word); found != types.end())
      parsed.dtype = found->second;
    else
      parsed.dims.push_back(word);
  }
  return parsed;
}

bool is_name(const std::string& dim) { return dim[0] > '9'; }

// Of the graph input: an empty dimension still has the usual size there.
int64_t size_of(const std::string& dim, const Resized& resized) {
  if (!is_name(dim)) return std::stoll(dim);
  return dim == resized.name && resized.size > 0 ? resized.size : kUsualSize;
}

// Adds a graph input and the Slices that empty it; returns the name of the result.
std::string add_input(OnnxModel& model, const std::string& name, const InputType& type,
                      const Resized& resized) {
  Shape shape;
  for (const std::string& dim : type.dims) shape.push_back(size_of(dim, resized));
  std::string last = name + "_whole";
  model.input(last, shape, type.dtype);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (type.dims[axis] != resized.name || resized.size > 0) continue;
    const std::string axes = name + "_axis" + std::to_string(axis);
    std::string sliced = name + "_" + std::to_string(axis + 1);
    model.initializer(axes, ints({static_cast<int64_t>(axis)}));
    model.node("Slice", {last, "zero", "zero", axes}, {sliced});
    last = std::move(sliced);
  }
  return last;
}

}  // namespace

std::set<std::string> dimension_names(const Case& test) {
  std::set<std::string> names;
  for (const Input& input : test.inputs)
    for (const std::string& dim : parse(input.dims).dims)
      if (is_name(dim)) names.insert(dim);
  return names;
}

OnnxModel model_of(const Case& test, const Resized& resized, OutputMask outputs) {
  OnnxModel model(test.opset);
  model.initializer("zero", ints({0}));
  std::vector<std::string> inputs;
  for (const Input& input : test.inputs) {
    const std::string name = "x" + std::to_string(inputs.size());
    if (input.constant) {
      model.initializer(name, *input.constant);
      inputs.push_back(name);
    } else {
      inputs.push_back(input.dims.empty() ? "" : add_input(model, name, parse(input.dims), resized));
    }
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < test.outputs; ++i) {
    results.push_back("y" + std::to_string(i));
    if (outputs >> i & 1) model.output(results.back());
  }
  return std::move(model.node(test.type, inputs, results, test.attributes, "under_test"));
}

}  // namespace vellum::test::empty_tensors
