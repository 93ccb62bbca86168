#include "vulkan/crash_marks.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <system_error>

#include "platform/files.hpp"
#include "platform/json_value.hpp"
#include "platform/private_files.hpp"
#include "platform/sha256.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/vellum.h"

namespace vellum::gpu {
namespace {

using platform::JsonValue;

constexpr uint32_t kCrashesVersion = 1;
constexpr uint64_t kMostMarkBytes = uint64_t{1} << 24;
constexpr const char* kKindNames[] = {"cooperative_query", "pipeline_cache",      "pipeline",
                                      "dispatch",          "cooperative_product", "cooperative_byte_product"};

// Another driver or version of Vellum may survive what this one did not.
std::string marks_key(const DeviceCaps& caps) {
  constexpr size_t kKeyDigits = 16;
  platform::Sha256 hash;
  hash.add_string("crashes").add_string(caps.name).add_string(caps.driver);
  hash.add(std::as_bytes(std::span(caps.pipeline_cache_uuid)));
  for (const uint32_t number :
       {caps.vendor_id, caps.device_id, caps.driver_version, caps.api_version, uint32_t{VELLUM_VERSION}})
    hash.add(std::as_bytes(std::span(&number, 1)));
  return platform::to_hex(hash.finish()).substr(0, kKeyDigits);
}

JsonValue attempt_json(const Attempt& attempt) {
  JsonValue::Object object;
  object.emplace_back("id", attempt.id);
  object.emplace_back("kind", kKindNames[static_cast<size_t>(attempt.kind)]);
  object.emplace_back("what", attempt.what);
  return JsonValue(std::move(object));
}

std::optional<Attempt> attempt_from_json(const JsonValue& json) {
  const JsonValue *id = json.find("id"), *kind = json.find("kind"), *what = json.find("what");
  if (!id || !id->string() || !kind || !kind->string() || !what || !what->string()) return std::nullopt;
  const auto name = std::ranges::find(kKindNames, *kind->string());
  if (name == std::end(kKindNames)) return std::nullopt;
  return Attempt{static_cast<AttemptKind>(name - std::begin(kKindNames)), *id->string(), *what->string()};
}

std::string one_line_json(const JsonValue& json) {
  std::string text = json.text(0);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// The attempts that began and did not end. A line "+ NUMBER JSON" begins one, "- NUMBER" ends it; a last line
// that was cut is ignored.
std::vector<Attempt> unfinished(std::string_view log) {
  std::map<uint64_t, Attempt> open;
  for (size_t begin = 0, end; (end = log.find('\n', begin)) != log.npos; begin = end + 1) {
    const std::string_view line = log.substr(begin, end - begin);
    uint64_t number = 0;
    if (line.size() < 3) continue;
    const char* const last = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + 2, last, number);
    if (parsed.ec != std::errc()) continue;
    if (line[0] == '-') open.erase(number);
    if (line[0] != '+') continue;
    if (const auto json =
            JsonValue::parse(std::string_view(parsed.ptr, static_cast<size_t>(last - parsed.ptr))))
      if (std::optional<Attempt> attempt = attempt_from_json(*json))
        open.emplace(number, *std::move(attempt));
  }
  std::vector<Attempt> attempts;
  for (auto& [number, attempt] : open) attempts.push_back(std::move(attempt));
  return attempts;
}

// Leaves out layout conversions where other shaders were compiled at the same time: these are likelier to
// have ended the process, and nothing can replace a conversion.
std::vector<Attempt> without_bystanders(std::vector<Attempt> attempts) {
  const auto converts = [](const Attempt& attempt) {
    return attempt.kind == AttemptKind::pipeline &&
           (attempt.id == "to_linear" || attempt.id == "to_channels4");
  };
  if (!std::ranges::all_of(attempts, converts)) std::erase_if(attempts, converts);
  return attempts;
}

// The marks of all devices of this process. Never destroyed, as a thread may end the process at any time.
struct OpenMarks {
  std::mutex mutex;
  std::set<CrashMarks*> all;
  bool is_discarding = false;
};

OpenMarks& open_marks() {
  static OpenMarks& marks = *new OpenMarks;
  return marks;
}

}  // namespace

CrashMarks::~CrashMarks() {
  if (!is_open()) return;
  {
    const std::lock_guard lock(open_marks().mutex);
    open_marks().all.erase(this);
  }
  if (file_) file_->remove();
}

void CrashMarks::discard_all() {
  const std::lock_guard lock(open_marks().mutex);
  open_marks().is_discarding = true;
  for (CrashMarks* marks : open_marks().all) marks->discard();
}

void CrashMarks::discard() {
  const std::lock_guard lock(mutex_);
  if (file_) file_->remove();
  file_.reset();
  file_failed_ = true;
}

void CrashMarks::open(const std::filesystem::path& folder, const DeviceCaps& caps, const LogCallback& log) {
  if (folder.empty()) return;
  folder_ = folder;
  key_ = marks_key(caps);
  device_ = caps.name + (caps.driver.empty() ? "" : ", " + caps.driver);
  log_ = log;
  {
    const std::lock_guard lock(open_marks().mutex);
    open_marks().all.insert(this);
    file_failed_ = open_marks().is_discarding;
  }
  read_crashes();
  collect_abandoned();
  if (!crashes_.empty()) warn();
}

void CrashMarks::read_crashes() {
  const std::filesystem::path path = folder_ / ("crashes-" + key_ + ".json");
  if (platform::why_untrusted(path)) return;
  const std::optional<std::vector<std::byte>> bytes = platform::read_file(path, kMostMarkBytes);
  if (!bytes) return;
  const auto document = JsonValue::parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  const JsonValue* list = document ? document->find("crashes") : nullptr;
  if (!list || !list->array()) return;
  const JsonValue* one_at_a_time = document->find("compiles_one_at_a_time");
  compiler_crashed_ = one_at_a_time && one_at_a_time->boolean() && *one_at_a_time->boolean();
  for (const JsonValue& json : *list->array())
    if (std::optional<Attempt> attempt = attempt_from_json(json)) crashes_.push_back(*std::move(attempt));
}

void CrashMarks::collect_abandoned() {
  std::error_code error;
  const std::string prefix = "trying-" + key_ + "-";
  std::vector<std::filesystem::path> logs;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error))
    if (platform::to_utf8(entry->path().filename()).starts_with(prefix)) logs.push_back(entry->path());
  bool found = false;
  for (const std::filesystem::path& path : logs) {
    if (platform::why_untrusted(path)) continue;
    const std::optional<std::string> log = platform::take_abandoned_file(path, kMostMarkBytes);
    if (!log) continue;
    for (Attempt& attempt : without_bystanders(unfinished(*log))) {
      compiler_crashed_ |= attempt.kind == AttemptKind::pipeline;
      if (std::ranges::find(crashes_, attempt) != crashes_.end()) continue;
      crashes_.push_back(std::move(attempt));
      found = true;
    }
  }
  if (found) write_crashes();
}

void CrashMarks::write_crashes() {
  JsonValue::Array list;
  for (const Attempt& attempt : crashes_) list.push_back(attempt_json(attempt));
  JsonValue::Object document;
  document.emplace_back("compiles_one_at_a_time", compiler_crashed_);
  document.emplace_back("crashes", std::move(list));
  document.emplace_back("device", device_);
  document.emplace_back("vellum_crashes", kCrashesVersion);
  const std::string text = JsonValue(std::move(document)).text(1) + "\n";
  try {
    platform::create_private_folders(folder_);
    platform::write_file_atomically(folder_ / ("crashes-" + key_ + ".json"), std::as_bytes(std::span(text)));
  } catch (const Error& failure) {
    if (log_) log_(LogLevel::warning, std::string("what crashed may be tried again: ") + failure.what());
  }
}

void CrashMarks::warn() const {
  if (!log_) return;
  std::string text = device_ + ": an earlier process ended, or lost the device, while the driver ";
  constexpr size_t kMostListed = 16;
  for (size_t i = 0; i < std::min(crashes_.size(), kMostListed); ++i)
    text += (i == 0 ? "" : "; ") + crashes_[i].what;
  if (crashes_.size() > kMostListed)
    text += "; and " + std::to_string(crashes_.size() - kMostListed) + " more";
  log_(LogLevel::warning, text + ". This is not tried again; `vellum doctor --forget` forgets it");
}

bool CrashMarks::has_crashed(AttemptKind kind, std::string_view id) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(crashes_,
                             [&](const Attempt& crash) { return crash.kind == kind && crash.id == id; });
}

bool CrashMarks::compiles_one_at_a_time() const {
  const std::lock_guard lock(mutex_);
  return compiler_crashed_;
}

std::vector<Attempt> CrashMarks::crashes() const {
  const std::lock_guard lock(mutex_);
  return crashes_;
}

void CrashMarks::add_crash(const Attempt& attempt) {
  if (!is_open()) return;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(crashes_, attempt) != crashes_.end()) return;
  crashes_.push_back(attempt);
  write_crashes();
}

void CrashMarks::forget() {
  if (!is_open()) return;
  const std::lock_guard lock(mutex_);
  if (crashes_.empty()) return;
  crashes_.clear();
  write_crashes();
}

CrashMarks::Mark CrashMarks::begin(const Attempt& attempt, bool durable) {
  if (!is_open()) return {*this, 0};
  const std::string json = one_line_json(attempt_json(attempt));
  const std::lock_guard lock(mutex_);
  const uint64_t number = ++next_;
  append("+ " + std::to_string(number) + " " + json + "\n", durable);
  return {*this, number};
}

CrashMarks::Mark::~Mark() {
  if (number_ == 0) return;
  const std::lock_guard lock(marks_.mutex_);
  marks_.append("- " + std::to_string(number_) + "\n", false);
}

// The file is made by the first attempt: a process that tries nothing new writes nothing.
void CrashMarks::append(std::string_view line, bool durable) {
  if (!file_ && !file_failed_) {
    platform::create_private_folders(folder_);
    std::random_device random;
    file_ =
        platform::OwnedFile::create(folder_ / ("trying-" + key_ + "-" + std::to_string(random()) + ".log"));
    file_failed_ = !file_;
  }
  if (file_) file_->append(line, durable);
}

}  // namespace vellum::gpu
