// Models in memory: what goes in, what comes out, and the nodes between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vellum/export.h"
#include "vellum/limits.hpp"
#include "vellum/tensor.hpp"

namespace vellum {

// A dense, row-major tensor in host memory, in the model's own order of dimensions.
using Tensor = HostTensor;

// A graph input or output with the model's own name. A dimension is -1 if the model leaves it open or if it
// is data-dependent (how many boxes NonMaxSuppression keeps). The shape {-1} can also mean that not even the
// number of dimensions is known.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  // True for an input whose values decide shapes of other tensors or the choice of a branch, such as the
  // sizes of a Resize. A session prepares itself for these values as for the shapes of inputs.
  bool decides_shapes = false;
  // The name that the signature of a TFLite file gives it, such as "output_0"; empty without one, and where
  // it is the `name` of another input or output. Functions and options take either name.
  std::string signature_name;
  // Of an input that is a variable of the network: what it begins with. The output "NAME.next" is its value
  // for the next run.
  std::optional<HostTensor> initial_value;

  bool has_name(std::string_view wanted) const {
    return wanted == name || (!wanted.empty() && wanted == signature_name);
  }
};

struct NodeInfo {
  std::string name, op, attributes;
  std::vector<std::string> inputs, outputs;
  std::vector<Shape> output_shapes;
  uint64_t parameters = 0;  // elements of constant inputs
  uint64_t macs = 0;        // multiply-accumulates; 0 if input shapes are data-dependent
};

// Shapes of graph inputs by name: for inputs that the model leaves open, or to override.
using InputShapes = std::map<std::string, Shape>;
// Values of graph inputs by name, for inputs that decide shapes (TensorInfo::decides_shapes).
using InputTensors = std::map<std::string, Tensor>;

// A model file in memory, independent of any device. Copies are handles. Thread-safe.
class VELLUM_API Model {
 public:
  // Loads an ONNX model, a TFLite model or a bundle (vellum/pack.hpp), recognised by its content.
  // A file that exceeds `limits` is refused.
  static Model load(const std::filesystem::path& file, const LoadLimits& limits = {});
  // External weights are refused.
  static Model load(std::span<const std::byte> bytes, const LoadLimits& limits = {});
  // Does the same without a copy of a bundle: the model, and what is made of it, keep `bytes`, which must not
  // change, and read constants, weights and shaders there when they need them. A bundle that does not begin
  // at a multiple of 8 bytes is copied; of other formats nothing is kept.
  static Model load(std::shared_ptr<const std::byte> bytes, size_t byte_count, const LoadLimits& limits = {});
  // Load one of the signatures of a TFLite model. Throw Error(not_found), which names those that there are.
  static Model load(const std::filesystem::path& file, const LoadLimits& limits, std::string_view signature);
  static Model load(std::span<const std::byte> bytes, const LoadLimits& limits, std::string_view signature);

  const std::vector<TensorInfo>& inputs() const;
  // Shapes are inferred if all input shapes are known; open dimensions are -1.
  const std::vector<TensorInfo>& outputs() const;
  // Names of the signatures of a TFLite file, the one that was loaded first: without a choice
  // "serving_default" or, if there is none, the file's first.
  const std::vector<std::string>& signatures() const;
  // The nodes as in the file, in execution order, with shapes inferred for these input shapes, and these
  // values of inputs that decide shapes.
  std::vector<NodeInfo> nodes(const InputShapes& shapes = {}, const InputTensors& values = {}) const;

  struct Impl;

 private:
  friend struct Handles;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Returns the names of the graph passes that can be disabled (SessionOptions::disabled_passes,
// docs/models.md).
VELLUM_API std::vector<std::string> graph_passes();

}  // namespace vellum
