// Prepacked weights in host memory, ready to be copied to the device repeatedly.
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
  std::shared_ptr<const void> owner;              // keeps the bytes alive
  const platform::MappedFile* mapping = nullptr;  // set if the weight has a file of its own

  // Advises the operating system that the bytes are not needed soon.
  void rest() const;
};

// Returns the bytes of the model file itself, if prepacking does not change them.
std::optional<PackedWeight> unchanged(const VirtualTensor& weight);

struct PackedWeightsOptions {
  // The folder for files of prepacked weights, which are mapped. Empty: the weights stay in memory.
  std::filesystem::path folder;
  // Up to this many bytes of a program's weights stay in memory even with a folder.
  uint64_t most_in_memory = uint64_t{64} << 20;
  // Finds the prepacked weights of a bundle.
  FindPacked ready = {};
};

// Reads weights from the model file if prepacking does not change them. Prepacks every other weight once,
// into memory or into a file. Files are written atomically, verified as a whole, and written again if they
// are damaged. One thread at a time.
class PackedWeights {
 public:
  PackedWeights(PackedWeightsOptions options, FixedConstants constants, LogCallback log);

  // Returns the prepacked weights in the order of the argument. Throws Error(io), which states the bytes
  // needed, if a file cannot be written.
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
  std::map<std::string, std::string> file_names_;  // by weight_key(): hashing a model takes time
};

}  // namespace vellum
