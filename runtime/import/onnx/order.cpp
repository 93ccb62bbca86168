#include "import/onnx/order.hpp"

#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "import/onnx/names.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {

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
    for (const auto& input : graph.node(static_cast<int>(i)).input()) {
      const auto found = producer.find(input);
      if (input.empty() || found == producer.end()) continue;
      consumers[found->second].push_back(i);
      ++waiting_for[i];
    }
  }
  // Kahn's algorithm, always taking the node that the file has first.
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
