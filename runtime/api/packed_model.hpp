// The precompiled shaders and prepacked weights of a bundle.
#pragma once

#include <memory>
#include <optional>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "pack/file.hpp"
#include "program/program.hpp"
#include "program/weights.hpp"
#include "vulkan/shader_compiler.hpp"

namespace vellum {

class PackedModel : public gpu::CompiledShaders {
 public:
  // `graph`: the graph of the file; its constants must stay at their addresses. `trusted`:
  // LoadLimits::trusts_shaders.
  PackedModel(std::shared_ptr<const packfile::File> file, const Graph& graph, bool trusted);

  std::vector<uint32_t> find(const platform::Sha256Digest& digest) const override {
    return file_->shader(digest);
  }
  bool are_trusted() const override { return trusted_; }
  std::span<const std::byte> find(const VirtualTensor& weight) const;
  bool has_shaders_of(const Program& program) const;
  bool has_shader_of(const Program& program, const Dispatch& dispatch) const;
  // Returns the caps of the device that the bundle was made for. Returns nothing for bundles of older
  // versions, and for newer ones whose caps this version cannot read.
  std::optional<DeviceCaps> caps() const;

 private:
  std::shared_ptr<const packfile::File> file_;
  ConstantIds ids_;
  bool trusted_;
};

}  // namespace vellum
