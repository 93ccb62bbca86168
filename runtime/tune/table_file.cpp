#include "tune/table_file.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exec/kernels_key.hpp"
#include "platform/files.hpp"
#include "platform/json_value.hpp"
#include "platform/private_files.hpp"
#include "platform/utf8_path.hpp"

namespace vellum {
namespace {

using platform::JsonValue;

constexpr uint32_t kVersion = 1;
constexpr uint64_t kMostBytes = uint64_t{16} << 20;
constexpr double kMostMicroseconds = 1e9;

using Operators = decltype(TuningTable::operators);
using Storages = decltype(TuningTable::storages);

std::optional<CandidateTimes> read_times(const JsonValue& from) {
  if (!from.object()) return std::nullopt;
  CandidateTimes times;
  for (const auto& [candidate, time] : *from.object()) {
    const std::optional<double> microseconds = time.number();
    if (!microseconds || !(*microseconds > 0) || *microseconds > kMostMicroseconds) return std::nullopt;
    times.emplace(candidate, *microseconds);
  }
  return times;
}

std::optional<Operators> read_operators(const JsonValue& from) {
  if (!from.object()) return std::nullopt;
  Operators operators;
  for (const auto& [signature, times] : *from.object()) {
    std::optional<CandidateTimes> read = read_times(times);
    if (!read) return std::nullopt;
    operators.emplace(signature, std::move(*read));
  }
  return operators;
}

// Files have a letter for each value: b for buffer, i for image2d, v (volume) for image3d.
char letter_of(StorageChoice storage) {
  if (storage == StorageChoice::image2d) return 'i';
  return storage == StorageChoice::image3d ? 'v' : 'b';
}

std::optional<StorageChoice> storage_of(char letter) {
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
    if (letter_of(storage) == letter) return storage;
  return std::nullopt;
}

std::optional<std::vector<StorageChoice>> read_letters(const std::string& letters) {
  std::vector<StorageChoice> storages;
  for (const char letter : letters) {
    const std::optional<StorageChoice> storage = storage_of(letter);
    if (!storage) return std::nullopt;
    storages.push_back(*storage);
  }
  return storages;
}

std::optional<Storages> read_storages(const JsonValue& from) {
  if (!from.object()) return std::nullopt;
  Storages storages;
  for (const auto& [network, letters] : *from.object()) {
    if (!letters.string()) return std::nullopt;
    auto read = read_letters(*letters.string());
    if (!read) return std::nullopt;
    storages.emplace(network, std::move(*read));
  }
  return storages;
}

JsonValue written(const Operators& operators) {
  JsonValue::Object object;
  for (const auto& [signature, times] : operators) {
    JsonValue::Object by_candidate;
    for (const auto& [candidate, microseconds] : times) by_candidate.emplace_back(candidate, microseconds);
    object.emplace_back(signature, std::move(by_candidate));
  }
  return object;
}

JsonValue written(const Storages& storages) {
  JsonValue::Object object;
  for (const auto& [network, of_values] : storages) {
    std::string letters;
    for (const StorageChoice storage : of_values) letters += letter_of(storage);
    object.emplace_back(network, std::move(letters));
  }
  return object;
}

std::string to_json(const TuningTable& table, const DeviceCaps& caps, const std::string& key) {
  JsonValue::Object document;
  document.emplace_back("device", caps.name);
  document.emplace_back("driver", caps.driver);
  document.emplace_back("key", key);
  document.emplace_back("operators", written(table.operators));
  document.emplace_back("storages", written(table.storages));
  document.emplace_back("vellum_tuning", kVersion);
  return JsonValue(std::move(document)).text(1) + "\n";
}

std::filesystem::path path_of_key(const std::filesystem::path& folder, const std::string& key) {
  return folder / ("tuning-" + key.substr(0, 16) + ".json");
}

}  // namespace

std::string to_json(const TuningTable& table, const DeviceCaps& caps) {
  return to_json(table, caps, kernels_key(caps));
}

std::optional<TuningTable> table_from_json(std::string_view text, std::string_view key) {
  const std::optional<JsonValue> document = JsonValue::parse(text);
  if (!document || !document->object() || document->object()->size() != 6) return std::nullopt;
  for (const char* name : {"vellum_tuning", "key", "device", "driver", "operators", "storages"})
    if (!document->find(name)) return std::nullopt;
  const uint64_t* version = document->find("vellum_tuning")->whole_number();
  const std::string* own_key = document->find("key")->string();
  if (!version || *version != kVersion || !own_key || *own_key != key) return std::nullopt;
  std::optional<Operators> operators = read_operators(*document->find("operators"));
  std::optional<Storages> storages = read_storages(*document->find("storages"));
  if (!operators || !storages) return std::nullopt;
  return TuningTable{std::move(*operators), std::move(*storages)};
}

std::filesystem::path table_path(const std::filesystem::path& folder, const DeviceCaps& caps) {
  return path_of_key(folder, kernels_key(caps));
}

TuningTable read_table(const std::filesystem::path& folder, const DeviceCaps& caps, const LogCallback& log) {
  const std::string key = kernels_key(caps);
  const std::filesystem::path path = path_of_key(folder, key);
  if (const auto why = platform::why_untrusted(path)) {
    if (log) log(LogLevel::warning, platform::to_utf8(path) + ": is not used, because " + *why);
    return {};
  }
  const std::optional<std::vector<std::byte>> bytes = platform::read_file(path, kMostBytes);
  if (!bytes) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (std::optional<TuningTable> table = table_from_json(text, key)) return std::move(*table);
  if (log)
    log(LogLevel::info, platform::to_utf8(path) + ": damaged, or not for this device; it is left aside");
  return {};
}

void write_table(const std::filesystem::path& folder, const DeviceCaps& caps, const TuningTable& table) {
  const std::string key = kernels_key(caps), text = to_json(table, caps, key);
  platform::create_private_folders(folder);
  platform::write_file_atomically(path_of_key(folder, key), std::as_bytes(std::span(text)));
}

}  // namespace vellum
