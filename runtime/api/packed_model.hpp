// The precompiled shaders and prepacked weights of a bundle.
#pragma once

#include <memory>

#include "graph/graph.hpp"
#include "program/weights.hpp"
#include "pack/file.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum {

class PackedModel : public gpu::CompiledShaders {
 public:
  // `graph`: that of the file, whose constants stay at their addresses.
  PackedModel(std::shared_ptr<const packfile::File> file, const Graph& graph);

  std::vector<uint32_t> find(const platform::Sha256Digest& digest) const override {
    return file_->shader(digest);
  }
  std::span<const std::byte> find(const VirtualTensor& weight) const;

 private:
  std::shared_ptr<const packfile::File> file_;
  ConstantIds ids_;
};

}  // namespace vellum
