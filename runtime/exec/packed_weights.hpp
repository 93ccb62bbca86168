// Weights in host memory as they lie on the device, ready to be copied there again and again.
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
  std::shared_ptr<const void> owner;              // keeps them
  const platform::MappedFile* mapping = nullptr;  // where they lie in a file of their own

  // They are not needed for now.
  void rest() const;
};

// The bytes of the model itself, where packing changes nothing.
std::optional<PackedWeight> unchanged(const VirtualTensor& weight);

struct PackedWeightsOptions {
  // Where packed weights are kept as files, which are mapped; empty: they stay in memory.
  std::filesystem::path folder;
  // Up to so many bytes of a program's weights stay in memory anyway.
  uint64_t most_in_memory = uint64_t{64} << 20;
  // Where weights are packed already: in a packed model.
  FindPacked ready = {};
};

// Weights whose packed bytes are those of the model file are read from there. The others are packed once:
// into memory, or into a file for each, which is written atomically, believed only if every byte is as it was
// written, and made again otherwise. One thread at a time.
class PackedWeights {
 public:
  PackedWeights(PackedWeightsOptions options, FixedConstants constants, LogCallback log);

  // In the order of the argument. Error(io) where a file cannot be written; the message says how many bytes
  // it takes.
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
  std::map<std::string, std::string> file_names_;  // likewise: reading all of a model for them takes its time
};

}  // namespace vellum
