#include "import/onnx/versions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "graph/operator.hpp"
#include "import/onnx/names.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

void refuse_older(const std::string& kind, int64_t version, int64_t oldest) {
  if (version >= oldest) return;
  throw Error(ErrorCode::unsupported,
              "the model is written in " + kind + " version " + std::to_string(version) + "; versions from " +
                  std::to_string(oldest) +
                  " on are read. Export it again, or convert it with ONNX's version converter");
}

// Operators without a row in the operator table, of which the reader makes constants and graphs.
bool is_known(const schema::NodeProto& node) {
  if (!is_default_domain(node.domain())) return find_operator(operator_type(node)) != nullptr;
  const std::string& type = node.op_type();
  return type == "Constant" || type == "If" || type == "Loop" || type == "Scan" ||
         find_operator(operator_type(node)) != nullptr;
}

struct Unknown {
  std::string first_node;
  size_t count = 0;
};

using UnknownTypes = std::map<std::string, Unknown>;

void collect_unknown(const schema::GraphProto& graph, UnknownTypes& unknown) {
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_unknown(attribute.g(), unknown);
    }
    if (is_known(node)) continue;
    const std::string domain = is_default_domain(node.domain()) ? "" : node.domain() + ".";
    Unknown& entry = unknown[quoted_name(domain + node.op_type())];
    if (entry.count++ > 0) continue;
    entry.first_node =
        quoted_name(!node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0));
  }
}

bool uses_default_domain(const schema::GraphProto& graph) {
  for (const auto& node : graph.node()) {
    if (is_default_domain(node.domain())) return true;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() && uses_default_domain(attribute.g())) return true;
    }
  }
  return false;
}

std::string list_unknown(const UnknownTypes& unknown) {
  constexpr size_t kListed = 20;
  std::string text;
  size_t listed = 0;
  for (const auto& [type, entry] : unknown) {
    if (listed++ == kListed) return text + ", and " + std::to_string(unknown.size() - kListed) + " more";
    if (!text.empty()) text += ", ";
    text += type + " (node " + entry.first_node;
    if (entry.count > 1) text += " and " + std::to_string(entry.count - 1) + " more";
    text += ")";
  }
  return text;
}

}  // namespace

std::string operator_type(const schema::NodeProto& node) {
  return operator_type(node.domain(), node.op_type());
}

int read_versions(const schema::ModelProto& model) {
  if (!model.has_ir_version())
    throw Error(ErrorCode::corrupt_model, "not an ONNX model: it has no IR version");
  refuse_older("ONNX IR", model.ir_version(), kOldestIr);
  std::optional<int64_t> opset;
  for (const auto& import : model.opset_import()) {
    if (!is_default_domain(import.domain())) continue;  // a node of such a domain is refused by name
    if (opset && *opset != import.version()) {
      throw Error(ErrorCode::corrupt_model, "the model imports two versions of the default operator set");
    }
    opset = import.version();
  }
  // All nodes of a model may be of other domains; what is made of them is of the newest version.
  if (!opset && model.opset_import_size() > 0 && !uses_default_domain(model.graph())) return kNewestOpset;
  if (!opset) {
    throw Error(ErrorCode::corrupt_model,
                "the model does not say which version of the ONNX operators it uses "
                "(no opset_import), or the file is truncated");
  }
  refuse_older("ONNX operator set (opset)", *opset, kOldestOpset);
  return static_cast<int>(std::min(*opset, kNewestOpset));
}

void refuse_unknown_operators(const schema::ModelProto& model) {
  UnknownTypes unknown;
  collect_unknown(model.graph(), unknown);
  if (unknown.empty()) return;
  throw Error(ErrorCode::unsupported, std::string(unknown.size() == 1 ? "operator" : "operators") +
                                          " not supported: " + list_unknown(unknown));
}

}  // namespace vellum::onnx
