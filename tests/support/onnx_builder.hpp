// Small ONNX models for tests, made in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/graph.hpp"

namespace vellum::onnx_schema {
class ModelProto;
}

namespace vellum::test {

Attributes attributes(std::initializer_list<std::pair<std::string, Attributes::Value>> list);

class OnnxModel {
 public:
  explicit OnnxModel(int opset = 13);
  ~OnnxModel();
  OnnxModel(OnnxModel&&) noexcept;
  OnnxModel& operator=(OnnxModel&&) noexcept;

  // Open dimensions (kUnknownDim) get a name each, as exporters do.
  OnnxModel& input(const std::string& name, const Shape& shape, DType dtype = DType::f32);
  OnnxModel& output(const std::string& name);
  OnnxModel& initializer(const std::string& name, const HostTensor& tensor);
  // An empty name omits an input or output. `type` is prefixed with the domain unless that is ONNX's own:
  // "com.microsoft.QGemm".
  OnnxModel& node(const std::string& type, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const Attributes& node_attributes = {},
                  const std::string& name = {});

  // The protobuf message, for everything that the functions above do not cover.
  onnx_schema::ModelProto& proto() { return *proto_; }
  std::string bytes() const;
  void save(const std::filesystem::path& file) const;
  // The imported graph.
  Graph graph() const;

 private:
  std::unique_ptr<onnx_schema::ModelProto> proto_;
};

std::span<const std::byte> as_bytes(const std::string& text);

}  // namespace vellum::test
