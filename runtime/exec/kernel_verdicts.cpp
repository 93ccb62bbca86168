#include "exec/kernel_verdicts.hpp"

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

constexpr uint32_t kVerdictsVersion = 6;
constexpr uint64_t kMostVerdictBytes = uint64_t{16} << 20;

// {"why": ..., "fused": a FusedKernelId or null, "unfolded" and "accesses_rows": members of WrongKernel}
JsonValue wrong_kernel_json(const WrongKernel& kernel) {
  JsonValue::Object object;
  object.emplace_back("accesses_rows", kernel.accesses_rows);
  object.emplace_back("fused", kernel.fused ? JsonValue(std::string(name(*kernel.fused))) : JsonValue());
  object.emplace_back("unfolded", kernel.unfolded);
  object.emplace_back("why", kernel.why);
  return JsonValue(std::move(object));
}

std::optional<WrongKernel> wrong_kernel_from_json(const JsonValue& json) {
  const JsonValue *why = json.find("why"), *fused = json.find("fused"), *unfolded = json.find("unfolded"),
                  *rows = json.find("accesses_rows");
  if (!json.object() || json.object()->size() != 4 || !why || !why->string() || !fused || !unfolded ||
      !unfolded->string() || !rows || !rows->boolean())
    return std::nullopt;
  WrongKernel kernel{
      .why = *why->string(), .fused = {}, .unfolded = *unfolded->string(), .accesses_rows = *rows->boolean()};
  if (fused->is_null()) return kernel;
  kernel.fused = fused->string() ? fused_kernel_from_name(*fused->string()) : std::nullopt;
  return kernel.fused ? std::optional(kernel) : std::nullopt;
}

JsonValue answer_json(std::optional<bool> answer) { return answer ? JsonValue(*answer) : JsonValue(); }

// Returns false if it is neither true nor false nor null.
bool read_answer(const JsonValue& json, std::optional<bool>& answer) {
  if (const bool* known = json.boolean()) answer = *known;
  return answer || json.is_null();
}

}  // namespace

std::string to_json(const KernelVerdicts& verdicts, const DeviceCaps& caps) {
  JsonValue::Object kernels;
  for (const std::string& kernel : verdicts.right) kernels.emplace_back(kernel, true);
  for (const std::string& kernel : verdicts.unchecked) kernels.emplace_back(kernel, JsonValue());
  for (const auto& [kernel, wrong] : verdicts.wrong) kernels.emplace_back(kernel, wrong_kernel_json(wrong));
  JsonValue::Object document;
  document.emplace_back("device", caps.name);
  document.emplace_back("driver", caps.driver);
  document.emplace_back("kernels", std::move(kernels));
  document.emplace_back("key", kernels_key(caps));
  document.emplace_back("may_share_memory", answer_json(verdicts.may_share_memory));
  document.emplace_back("packs_halves", answer_json(verdicts.packs_halves));
  document.emplace_back("vellum_self_check", kVerdictsVersion);
  return JsonValue(std::move(document)).text(1) + "\n";
}

std::optional<KernelVerdicts> verdicts_from_json(std::string_view text, const DeviceCaps& caps) {
  const std::optional<JsonValue> document = JsonValue::parse(text);
  if (!document || !document->object() || document->object()->size() != 7) return std::nullopt;
  for (const char* name :
       {"vellum_self_check", "key", "device", "driver", "kernels", "may_share_memory", "packs_halves"})
    if (!document->find(name)) return std::nullopt;
  const uint64_t* version = document->find("vellum_self_check")->whole_number();
  const std::string* key = document->find("key")->string();
  const JsonValue::Object* kernels = document->find("kernels")->object();
  if (!version || *version != kVerdictsVersion || !key || *key != kernels_key(caps) || !kernels)
    return std::nullopt;
  KernelVerdicts verdicts;
  if (!read_answer(*document->find("may_share_memory"), verdicts.may_share_memory) ||
      !read_answer(*document->find("packs_halves"), verdicts.packs_halves))
    return std::nullopt;
  for (const auto& [kernel, verdict] : *kernels) {
    if (const std::optional<WrongKernel> wrong = wrong_kernel_from_json(verdict))
      verdicts.wrong.emplace(kernel, *wrong);
    else if (const bool* right = verdict.boolean(); right && *right)
      verdicts.right.insert(kernel);
    else if (verdict.is_null())
      verdicts.unchecked.insert(kernel);
    else
      return std::nullopt;
  }
  return verdicts;
}

std::filesystem::path verdicts_path(const std::filesystem::path& folder, const DeviceCaps& caps) {
  return folder / ("selfcheck-" + kernels_key(caps).substr(0, 16) + ".json");
}

KernelVerdicts read_verdicts(const std::filesystem::path& folder, const DeviceCaps& caps,
                             const LogCallback& log) {
  const std::filesystem::path path = verdicts_path(folder, caps);
  if (const auto why = platform::why_untrusted(path)) {
    if (log) log(LogLevel::warning, platform::to_utf8(path) + ": is not used, because " + *why);
    return {};
  }
  const std::optional<std::vector<std::byte>> bytes = platform::read_file(path, kMostVerdictBytes);
  if (!bytes) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (std::optional<KernelVerdicts> verdicts = verdicts_from_json(text, caps)) return std::move(*verdicts);
  if (log)
    log(LogLevel::info,
        platform::to_utf8(path) + ": damaged, or not for this device; kernels are checked again");
  return {};
}

void write_verdicts(const std::filesystem::path& folder, const DeviceCaps& caps,
                    const KernelVerdicts& verdicts) {
  const std::string text = to_json(verdicts, caps);
  platform::create_private_folders(folder);
  platform::write_file_atomically(verdicts_path(folder, caps), std::as_bytes(std::span(text)));
}

}  // namespace vellum
