// Weights in host memory in their device layout, ready to be copied to the device repeatedly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/weights.hpp"
#include "vellum/log.hpp"

namespace vellum::platform {
class MappedFile;
}

namespace vellum {

struct PackedWeight {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;              // of the bytes
  const platform::MappedFile* mapping = nullptr;  // of a weight in a file of its own

  // Hints that the bytes are not needed soon.
  void rest() const;
};

// The bytes of the model itself, if packing does not change them.
std::optional<PackedWeight> unchanged(const VirtualTensor& weight);

struct PackedWeightsOptions {
  // The folder for packed weights as files, which are mapped. Empty: they stay in memory.
  std::filesystem::path folder;
  // So many bytes of a program's weights stay in memory in any case.
  uint64_t most_in_memory = uint64_t{64} << 20;
  // Finds weights that a bundle holds packed.
  FindPacked ready = {};
};

// Reads weights from the model file if packing does not change them. Packs each other weight once, into
// memory or into a file. Files are written atomically, verified as a whole, and written again if they are
// damaged. One thread at a time.
class PackedWeights {
 public:
  PackedWeights(PackedWeightsOptions options, FixedConstants constants, LogCallback log);

  // In the order of the argument. Error(io) if a file cannot be written; the message says how many bytes it
  // needs.
  std::vector<PackedWeight> pack(std::span<const VirtualTensor* const> weights);

 private:
  struct File;

  PackedWeight pack(const VirtualTensor& weight, bool in_memory);
  std::span<const std::byte> ready(const VirtualTensor& weight) const;
  bool must_be_packed(const VirtualTensor& weight) const;
  File file_of(const VirtualTensor& weight);
  std::shared_ptr<const PackedWeight> read(const File& file) const;
  std::shared_ptr<const PackedWeight> write(const File& file, const VirtualTensor& weight) const;
  void check_disk(std::span<const VirtualTensor* const> weights);

  PackedWeightsOptions options_;
  FixedConstants constants_;
  LogCallback log_;
  std::map<std::string, std::weak_ptr<const PackedWeight>> known_;  // by weight_key()
  std::map<std::string, std::string> file_names_;  // likewise, since hashing a model takes time
};

}  // namespace vellum
