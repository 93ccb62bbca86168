#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/editor.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

bool equal(const HostTensor& a, const HostTensor& b) {
  return a.type() == b.type() &&
         (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.byte_size()) == 0);
}

size_t hash(const HostTensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
  return std::hash<std::string_view>()(bytes);
}

}  // namespace

void share_constants(Graph& graph) {
  GraphEditor editor(graph);
  std::unordered_multimap<size_t, ValueId> seen;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const HostTensor* constant = graph.constant(id);
    if (constant == nullptr || constant->byte_size() == 0 || editor.is_graph_output(id)) continue;
    const size_t key = hash(*constant);
    const auto [begin, end] = seen.equal_range(key);
    const auto twin = std::find_if(
        begin, end, [&](const auto& entry) { return equal(*graph.constant(entry.second), *constant); });
    if (twin == end) {
      seen.emplace(key, id);
    } else {
      editor.replace_reads(id, twin->second);
    }
  }
  editor.commit();
}

}  // namespace vellum
