#include "compile/tuned_storages.hpp"

#include "platform/sha256.hpp"

namespace vellum {

std::string network_fingerprint(const Graph& graph, Precision precision) {
  platform::Sha256 hash;
  hash.add_string(to_text(graph)).add_string(precision == Precision::fp16 ? "fp16" : "fp32");
  return platform::to_hex(hash.finish()).substr(0, 32);
}

std::vector<StorageChoice> tuned_storages(const TuningTable& table, const Graph& graph, Precision precision) {
  if (table.storages.empty()) return {};
  const auto found = table.storages.find(network_fingerprint(graph, precision));
  if (found == table.storages.end() || found->second.size() != graph.values.size()) return {};
  return found->second;
}

}  // namespace vellum
