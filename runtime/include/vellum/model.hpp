// Models in memory: inputs, outputs and nodes.
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

// A graph input or output. A dimension is -1 if the model leaves it open or if it is data-dependent (such as
// the number of boxes that NonMaxSuppression keeps). The shape {-1} can also mean that the rank is unknown.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  // True for an input whose values determine shapes of other tensors (such as the sizes of a Resize) or the
  // choice of a branch. A session is prepared for these values as it is for the shapes of inputs.
  bool decides_shapes = false;
  // The name in the signature of a TFLite file, such as "output_0". Empty without a signature, and if another
  // input or output has that `name`. Functions and options accept either name.
  std::string signature_name;
  // The initial value of an input that is a variable of the network. The output "NAME.next" is its value for
  // the next run.
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
// Values of graph inputs by name, for inputs with TensorInfo::decides_shapes.
using InputTensors = std::map<std::string, Tensor>;

// A model file in memory, independent of any device. Copies are handles. Thread-safe.
class VELLUM_API Model {
 public:
  // Loads an ONNX model, a TFLite model or a bundle (vellum/pack.hpp), recognised by its content.
  // A file that exceeds `limits` is refused.
  static Model load(const std::filesystem::path& file, const LoadLimits& limits = {});
  // Loads a model from memory. A model with external data is refused.
  static Model load(std::span<const std::byte> bytes, const LoadLimits& limits = {});
  // Loads a model from memory without copying a bundle: the model and its sessions keep `bytes`, which must
  // not change, and read constants, weights and shaders from there on demand. A bundle that does not begin at
  // a multiple of 8 bytes is copied. For other formats `bytes` is not kept.
  static Model load(std::shared_ptr<const std::byte> bytes, size_t byte_count, const LoadLimits& limits = {});
  // Load one of the signatures of a TFLite model. For an unknown signature, throw Error(not_found), which
  // lists the signatures of the file.
  static Model load(const std::filesystem::path& file, const LoadLimits& limits, std::string_view signature);
  static Model load(std::span<const std::byte> bytes, const LoadLimits& limits, std::string_view signature);

  const std::vector<TensorInfo>& inputs() const;
  // Shapes are inferred if all input shapes are known; open dimensions are -1.
  const std::vector<TensorInfo>& outputs() const;
  // Names of the signatures of a TFLite file. The first name is the loaded signature: by default
  // "serving_default" or, if there is none, the first of the file.
  const std::vector<std::string>& signatures() const;
  // Returns the nodes of the file in execution order. Shapes are inferred for the given input shapes and
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
