#include "pack/file.hpp"

#include <algorithm>
#include <cstring>

#include "pack/schema.hpp"
#include "platform/mapped_file.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum::packfile {
namespace {

// The alignment that flatbuffers and tensors need: their largest elements have eight bytes.
constexpr size_t kMemoryAlignment = 8;

}  // namespace

bool is_packed(std::string_view head) {
  return head.size() >= Header::kMagic.size() &&
         std::equal(Header::kMagic.begin(), Header::kMagic.end(), head.begin());
}

File::File(const std::filesystem::path& path) : source_(platform::to_utf8(path)) {
  const auto mapped = std::make_shared<const platform::MappedFile>(path);
  owner_ = mapped;
  open(mapped->bytes());
}

File::File(std::span<const std::byte> bytes) : source_("packed model in memory") { open_copy(bytes); }

File::File(std::shared_ptr<const std::byte> bytes, size_t byte_count) : source_("packed model in memory") {
  const std::span<const std::byte> all(bytes.get(), byte_count);
  if (reinterpret_cast<uintptr_t>(bytes.get()) % kMemoryAlignment != 0) {
    open_copy(all);
    return;
  }
  owner_ = std::move(bytes);
  open(all);
}

void File::open_copy(std::span<const std::byte> bytes) {
  static_assert(alignof(uint64_t) == kMemoryAlignment);
  const auto words = std::make_shared<std::vector<uint64_t>>(bytes.size() / 8 + 1);
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(*words)).begin());
  owner_ = words;
  open(std::as_bytes(std::span(*words)).first(bytes.size()));
}

void File::refuse(const std::string& what) const {
  throw Error(ErrorCode::corrupt_model, source_ + ": " + what + "; bundle the model again");
}

void File::open(std::span<const std::byte> all) {
  Header header;
  if (all.size() < sizeof header) refuse("a packed model that is cut off");
  std::memcpy(&header, all.data(), sizeof header);
  if (header.magic != Header::kMagic) refuse("not a packed model");
  if (header.byte_order != Header::kByteOrder)
    throw Error(ErrorCode::unsupported,
                source_ + ": damaged, or packed on a machine of another byte order; bundle the model again");
  if (header.version != Header::kVersion && header.version != Header::kVersionWithoutSignature)
    throw Error(ErrorCode::unsupported, source_ + ": a packed model of format " +
                                            std::to_string(header.version) +
                                            "; this Vellum reads formats up to " +
                                            std::to_string(Header::kVersion) + ", pack the model with it");
  const uint64_t size = all.size();
  if (header.description_bytes > size - sizeof header || header.data_offset > size ||
      header.data_offset < sizeof header + header.description_bytes ||
      header.data_bytes != size - header.data_offset || header.data_offset % kAlignment != 0)
    refuse("the packed model is cut off or damaged");
  const std::span<const std::byte> text =
      all.subspan(sizeof header, static_cast<size_t>(header.description_bytes));
  if (platform::fingerprint(text) != header.description) refuse("the packed model is damaged");
  // No table is shared, and each takes four bytes and is referred to by four.
  constexpr uint64_t kLeastTable = 8;
  const auto most_tables = static_cast<flatbuffers::uoffset_t>(1 + text.size() / kLeastTable);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(text.data()), text.size(), 64, most_tables);
  if (!schema::VerifyModelBuffer(verifier)) refuse("the packed model's description is damaged");
  description_ = schema::GetModel(text.data());
  description_bytes_ = text;
  data_ = all.subspan(static_cast<size_t>(header.data_offset));

  if (const auto* weights = description_->weights()) {
    uint64_t bytes = 0;
    for (const schema::Weight* weight : *weights) {
      bytes += weight->key()->size();
      if (bytes > text.size()) refuse("the packed model's weights share a name");
      weights_.emplace(weight->key()->str(), weight->bytes());
    }
  }
  if (const auto* shaders = description_->shaders())
    for (const schema::Shader* shader : *shaders) {
      platform::Sha256Digest digest;
      if (shader->digest()->size() != digest.size()) refuse("a shader of the packed model has no digest");
      std::copy(shader->digest()->begin(), shader->digest()->end(), digest.begin());
      shaders_.emplace(digest, shader->words());
    }
}

std::string_view File::caps() const {
  const flatbuffers::String* caps = description_->caps();
  return caps ? caps->string_view() : std::string_view();
}

std::span<const std::byte> File::bytes(const schema::Bytes& blob, std::string_view what) const {
  if (blob.offset() > data_.size() || blob.size() > data_.size() - blob.offset() ||
      blob.offset() % kAlignment != 0)
    refuse(std::string(what) + " is outside the bundle");
  const auto bytes = data_.subspan(static_cast<size_t>(blob.offset()), static_cast<size_t>(blob.size()));
  {
    const std::lock_guard lock(mutex_);
    if (whole_.contains({blob.offset(), blob.size()})) return bytes;
    if (checked_bytes_ + blob.size() > data_.size()) refuse(std::string(what) + " overlaps with others");
  }
  if (platform::fingerprint(bytes) != platform::Fingerprint{blob.low(), blob.high()})
    refuse(std::string(what) + " is damaged");
  const std::lock_guard lock(mutex_);
  if (whole_.insert({blob.offset(), blob.size()}).second) checked_bytes_ += blob.size();
  return bytes;
}

std::span<const std::byte> File::weight(const std::string& key) const {
  const auto found = weights_.find(key);
  return found == weights_.end() ? std::span<const std::byte>()
                                 : bytes(*found->second, "weight '" + key + "'");
}

std::vector<uint32_t> File::shader(const platform::Sha256Digest& digest) const {
  const auto found = shaders_.find(digest);
  if (found == shaders_.end()) return {};
  const std::span<const std::byte> bytes = this->bytes(*found->second, "a shader");
  if (bytes.size() % 4 != 0) refuse("a shader is damaged");
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace vellum::packfile
