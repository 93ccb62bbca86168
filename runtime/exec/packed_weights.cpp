#include "exec/packed_weights.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <system_error>

#include "platform/files.hpp"
#include "platform/fingerprint.hpp"
#include "platform/mapped_file.hpp"
#include "platform/private_files.hpp"
#include "platform/utf8_path.hpp"
#include "program/weights.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Smaller ones are not worth a file.
constexpr uint64_t kLeastFileBytes = 64 << 10;

struct Header {
  static constexpr std::array<char, 8> kMagic{'V', 'L', 'M', 'W', 'G', 'H', 'T', '1'};

  std::array<char, 8> magic = kMagic;
  uint64_t bytes = 0;              // that follow
  platform::Fingerprint identity;  // of the weight's key
  platform::Fingerprint content;

  bool operator==(const Header&) const = default;
};
static_assert(sizeof(Header) == 48, "the header is written as it is in memory");

std::string hexadecimal(const platform::Fingerprint& print) {
  std::string text;
  for (const uint64_t word : {print.high, print.low})
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

platform::Fingerprint fingerprint(const std::string& text) {
  return platform::fingerprint(std::as_bytes(std::span(text)));
}

}  // namespace

std::optional<PackedWeight> unchanged(const VirtualTensor& weight) {
  if (weight.origin.packing.scheme != PackingScheme::unchanged || weight.origin.sources.size() != 1 ||
      weight.desc.layout != Layout::linear)
    return std::nullopt;
  const HostTensor& source = weight.origin.sources.front();
  const bool same_type = (source.dtype() == DType::f32 && weight.desc.element == ElementType::f32) ||
                         (source.dtype() == DType::f16 && weight.desc.element == ElementType::f16) ||
                         (source.dtype() == DType::i32 && weight.desc.element == ElementType::i32) ||
                         (size_of(source.dtype()) == 1 && weight.desc.element == ElementType::u8);
  if (!same_type || source.byte_size() != weight.desc.byte_size()) return std::nullopt;
  const auto owner = std::make_shared<const HostTensor>(source);
  return PackedWeight{{owner->data(), owner->byte_size()}, owner, nullptr};
}

void PackedWeight::rest() const {
  if (mapping) mapping->release_pages();
}

struct PackedWeights::File {
  std::filesystem::path path;
  platform::Fingerprint identity;
  uint64_t bytes;  // without the header
};

PackedWeights::PackedWeights(PackedWeightsOptions options, FixedConstants constants, LogCallback log)
    : options_(std::move(options)), constants_(std::move(constants)), log_(std::move(log)) {}

std::vector<PackedWeight> PackedWeights::pack(std::span<const VirtualTensor* const> weights) {
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  uint64_t total = 0;
  for (const VirtualTensor* weight : weights)
    if (must_be_packed(*weight)) total += weight->desc.byte_size();
  const bool in_memory = options_.folder.empty() || total <= options_.most_in_memory;
  if (options_.folder.empty() && total > options_.most_in_memory && log_)
    log_(LogLevel::warning, "without a cache folder " + std::to_string(total) +
                                " bytes of packed weights are kept in host memory beside the model's own");
  if (!in_memory) check_disk(weights);
  std::vector<PackedWeight> packed;
  for (const VirtualTensor* weight : weights) packed.push_back(pack(*weight, in_memory));
  return packed;
}

PackedWeight PackedWeights::pack(const VirtualTensor& weight, bool in_memory) {
  if (auto same = unchanged(weight)) return *same;
  if (const auto bytes = ready(weight); !bytes.empty()) return {bytes, nullptr, nullptr};
  std::weak_ptr<const PackedWeight>& known = known_[weight_key(weight, constants_)];
  std::shared_ptr<const PackedWeight> found = known.lock();
  if (!found && (in_memory || weight.desc.byte_size() < kLeastFileBytes)) {
    const auto bytes = std::make_shared<const std::vector<std::byte>>(pack_weight(weight));
    found = std::make_shared<const PackedWeight>(PackedWeight{*bytes, bytes, nullptr});
  } else if (!found) {
    const File file = file_of(weight);
    found = read(file);
    if (!found) found = write(file, weight);
  }
  known = found;
  return {found->bytes, found, found->mapping};
}

std::span<const std::byte> PackedWeights::ready(const VirtualTensor& weight) const {
  return options_.ready ? options_.ready(weight) : std::span<const std::byte>();
}

bool PackedWeights::must_be_packed(const VirtualTensor& weight) const {
  return !unchanged(weight) && ready(weight).empty();
}

// The key over all bytes that the weight is made of, so that the file serves any process.
PackedWeights::File PackedWeights::file_of(const VirtualTensor& weight) {
  std::string& name = file_names_[weight_key(weight, constants_)];
  if (name.empty()) name = weight_key(weight, {});
  const platform::Fingerprint identity = fingerprint(name);
  return {options_.folder / (hexadecimal(identity) + ".weight"), identity, weight.desc.byte_size()};
}

std::shared_ptr<const PackedWeight> PackedWeights::read(const File& file) const {
  std::error_code error;
  if (!std::filesystem::exists(file.path, error)) return nullptr;
  if (const auto why = platform::why_untrusted(file.path)) {
    if (log_) log_(LogLevel::warning, platform::to_utf8(file.path) + ": is not used, because " + *why);
    return nullptr;
  }
  try {
    const auto mapped = std::make_shared<const platform::MappedFile>(file.path);
    const std::span<const std::byte> all = mapped->bytes();
    if (all.size() == sizeof(Header) + file.bytes) {
      const std::span<const std::byte> content = all.subspan(sizeof(Header));
      Header found;
      std::memcpy(&found, all.data(), sizeof found);
      const Header expected{Header::kMagic, content.size(), file.identity, platform::fingerprint(content)};
      mapped->release_pages();
      if (found == expected)
        return std::make_shared<const PackedWeight>(PackedWeight{content, mapped, mapped.get()});
    }
  } catch (const Error&) {
    // A file that cannot be read is as good as none.
  }
  if (log_)
    log_(LogLevel::info, platform::to_utf8(file.path) + ": damaged packed weights, they are made again");
  return nullptr;
}

std::shared_ptr<const PackedWeight> PackedWeights::write(const File& file,
                                                         const VirtualTensor& weight) const {
  {
    const std::vector<std::byte> bytes = pack_weight(weight);
    const Header header{Header::kMagic, bytes.size(), file.identity, platform::fingerprint(bytes)};
    try {
      platform::create_private_folders(options_.folder);
      platform::write_file_atomically(file.path, {std::as_bytes(std::span(&header, 1)), bytes});
    } catch (const Error& error) {
      throw Error(ErrorCode::io, "the packed weights of '" + weight.name + "' (" +
                                     std::to_string(bytes.size()) + " bytes) are not kept: " + error.what());
    }
  }
  const auto mapped = std::make_shared<const platform::MappedFile>(file.path);
  if (mapped->bytes().size() != sizeof(Header) + file.bytes)
    throw Error(ErrorCode::io, platform::to_utf8(file.path) + ": changed while it was written");
  return std::make_shared<const PackedWeight>(
      PackedWeight{mapped->bytes().subspan(sizeof(Header)), mapped, mapped.get()});
}

// Rather before the first of many files than after the last that fits.
void PackedWeights::check_disk(std::span<const VirtualTensor* const> weights) {
  uint64_t needed = 0;
  std::error_code error;
  for (const VirtualTensor* weight : weights) {
    const uint64_t bytes = weight->desc.byte_size();
    if (bytes < kLeastFileBytes || !must_be_packed(*weight)) continue;
    if (!std::filesystem::exists(file_of(*weight).path, error)) needed += bytes + sizeof(Header);
  }
  const std::optional<uint64_t> available = platform::free_disk_bytes(options_.folder);
  if (available && needed > *available)
    throw Error(ErrorCode::io, platform::to_utf8(options_.folder) + ": the packed weights take " +
                                   std::to_string(needed) + " bytes and only " + std::to_string(*available) +
                                   " are free; make room or choose another cache folder");
}

}  // namespace vellum
