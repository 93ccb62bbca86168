#include "import/onnx/order.hpp"

#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "import/onnx/names.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

void collect_reads(const schema::NodeProto& node, Names& names);

// Returns the values that a graph reads from outside.
void collect_captured(const schema::GraphProto& graph, Names& names) {
  Names read, defined;
  for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
  for (const auto& input : graph.input()) defined.insert(input.name());
  for (const auto& node : graph.node()) {
    collect_reads(node, read);
    defined.insert(node.output().begin(), node.output().end());
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  for (const std::string_view name : read) {
    if (!defined.contains(name)) names.insert(name);
  }
}

// Returns the values that a node reads, through its inputs and through the graphs in its attributes.
void collect_reads(const schema::NodeProto& node, Names& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) collect_captured(attribute.g(), names);
  }
}

}  // namespace

std::vector<size_t> execution_order(const schema::GraphProto& graph) {
  const auto count = static_cast<size_t>(graph.node_size());
  std::unordered_map<std::string_view, size_t> producer;
  for (size_t i = 0; i < count; ++i) {
    for (const auto& output : graph.node(static_cast<int>(i)).output()) {
      if (!output.empty()) producer.emplace(output, i);
    }
  }
  std::vector<std::vector<size_t>> consumers(count);
  std::vector<size_t> waiting_for(count, 0);
  for (size_t i = 0; i < count; ++i) {
    Names reads;
    collect_reads(graph.node(static_cast<int>(i)), reads);
    for (const std::string_view name : reads) {
      const auto found = producer.find(name);
      if (name.empty() || found == producer.end()) continue;
      consumers[found->second].push_back(i);
      ++waiting_for[i];
    }
  }
  // Kahn's algorithm; of several ready nodes the first in the file is next.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    if (waiting_for[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const size_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const size_t consumer : consumers[node]) {
      if (--waiting_for[consumer] == 0) ready.push(consumer);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (waiting_for[i] != 0) {
      throw Error(ErrorCode::corrupt_model, describe(graph.node(static_cast<int>(i))) +
                                                ": it depends on its own output (a cycle of nodes)");
    }
  }
  return order;
}

}  // namespace vellum::onnx
