#include "compile/tuned_storages.hpp"

#include "platform/sha256.hpp"

namespace vellum {
namespace {

char letter_of(StorageChoice storage) {
  if (storage == StorageChoice::image2d) return 'i';
  return storage == StorageChoice::image3d ? 'v' : 'b';
}

StorageChoice storage_of(char letter) {
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::image3d})
    if (letter_of(storage) == letter) return storage;
  return StorageChoice::buffer;
}

}  // namespace

std::string network_fingerprint(const Graph& graph, Precision precision) {
  platform::Sha256 hash;
  hash.add_string(to_text(graph)).add_string(precision == Precision::fp16 ? "fp16" : "fp32");
  return platform::to_hex(hash.finish()).substr(0, 32);
}

std::vector<StorageChoice> tuned_storages(const TuningTable& table, const Graph& graph, Precision precision) {
  if (table.storages.empty()) return {};
  const auto found = table.storages.find(network_fingerprint(graph, precision));
  if (found == table.storages.end() || found->second.size() != graph.values.size()) return {};
  std::vector<StorageChoice> storages;
  for (const char letter : found->second) storages.push_back(storage_of(letter));
  return storages;
}

std::string to_letters(const std::vector<StorageChoice>& storages) {
  std::string letters;
  for (const StorageChoice storage : storages) letters += letter_of(storage);
  return letters;
}

}  // namespace vellum
