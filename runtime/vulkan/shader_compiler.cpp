#include "vulkan/shader_compiler.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "platform/sha256.hpp"
#include "shaders/sources.hpp"
#include "vellum/error.hpp"
#include "vulkan/cache_file.hpp"

namespace vellum::gpu {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;  // SPIR-V spec, 2.3

std::string_view source_of(const ShaderRequest& request) {
  if (!request.source.empty()) return request.source;
  if (const auto text = find_shader_source(request.name + ".comp")) return *text;
  throw Error(ErrorCode::internal, "there is no shader " + request.name + ".comp");
}

std::string preamble_of(const ShaderRequest& request) {
  auto defines = request.defines;
  std::ranges::sort(defines);
  std::string text;
  for (const auto& [macro, value] : defines) text += "#define " + macro + " " + value + "\n";
  return text;
}

// Adds the files that a source includes, directly or indirectly, to `files`. Includes that the preprocessor
// would skip count too: a change there costs an unnecessary compilation, never a stale result.
void collect_includes(std::string_view source, std::set<std::string_view>& files) {
  constexpr std::string_view directive = "#include \"";
  for (size_t at = source.find(directive); at != source.npos; at = source.find(directive, at)) {
    at += directive.size();
    const std::string_view name = source.substr(at, source.find('"', at) - at);
    const auto text = find_shader_source(name);
    if (text && files.insert(name).second) collect_includes(*text, files);
  }
}

// Everything that the SPIR-V depends on.
platform::Sha256Digest cache_key(const ShaderRequest& request) {
  const platform::Sha256Digest shader = shader_digest(request);
  platform::Sha256 hash;
  hash.add(std::as_bytes(std::span(shader))).add_string(glslang_version());
  return hash.finish();
}

bool is_spirv(const std::vector<uint32_t>& words) {
  constexpr size_t kHeaderWords = 5;  // of a module
  return words.size() >= kHeaderWords && words[0] == kSpirvMagic;
}

std::optional<std::vector<uint32_t>> as_spirv(const std::optional<std::vector<std::byte>>& bytes) {
  if (!bytes || bytes->size() % 4 != 0) return std::nullopt;
  std::vector<uint32_t> words(bytes->size() / 4);
  std::memcpy(words.data(), bytes->data(), bytes->size());
  if (!is_spirv(words)) return std::nullopt;
  return words;
}

}  // namespace

platform::Sha256Digest shader_digest(const ShaderRequest& request) {
  platform::Sha256 hash;
  const std::string_view source = source_of(request);
  hash.add_string("SPIR-V 1.3 for Vulkan 1.1").add_string(preamble_of(request)).add_string(source);
  std::set<std::string_view> includes;
  collect_includes(source, includes);
  for (const std::string_view name : includes) hash.add_string(name).add_string(*find_shader_source(name));
  return hash.finish();
}

ShaderCompiler::ShaderCompiler(const std::filesystem::path& cache_folder, LogCallback log)
    : folder_(cache_folder.empty() ? cache_folder : cache_folder / "spirv"), log_(std::move(log)) {}

std::filesystem::path ShaderCompiler::path_of(const platform::Sha256Digest& key) const {
  return folder_ / (platform::to_hex(key).substr(0, 32) + ".spv");
}

ShaderCompiler::Module ShaderCompiler::find(const ShaderRequest& request) {
  const std::string_view source = source_of(request);
  if (std::vector<uint32_t> words = find_precompiled(request); !words.empty()) return {std::move(words)};
  if (folder_.empty()) return {compile(request, source)};
  const platform::Sha256Digest key = cache_key(request);
  if (auto words = as_spirv(read_cache_file(path_of(key), key, log_))) {
    ++found_on_disk_;
    return {std::move(*words), true};
  }
  return {replace(request)};
}

std::vector<uint32_t> ShaderCompiler::replace(const ShaderRequest& request) {
  const platform::Sha256Digest key = cache_key(request);
  std::vector<uint32_t> words = compile(request, source_of(request));
  keep(path_of(key), key, words);
  return words;
}

void ShaderCompiler::add_precompiled_shaders(const std::shared_ptr<const CompiledShaders>& shaders) {
  const std::lock_guard lock(mutex_);
  std::erase_if(elsewhere_, [](const auto& entry) { return entry.expired(); });
  elsewhere_.push_back(shaders);
}

std::vector<uint32_t> ShaderCompiler::find_precompiled(const ShaderRequest& request) {
  std::vector<std::weak_ptr<const CompiledShaders>> elsewhere;
  {
    const std::lock_guard lock(mutex_);
    elsewhere = elsewhere_;
  }
  if (elsewhere.empty()) return {};
  const platform::Sha256Digest digest = shader_digest(request);
  for (const auto& entry : elsewhere) {
    const std::shared_ptr<const CompiledShaders> shaders = entry.lock();
    if (!shaders) continue;
    std::vector<uint32_t> words = shaders->find(digest);
    if (!is_spirv(words)) continue;
    if (const std::string fault = shaders->are_trusted() ? "" : fault_of(words); !fault.empty()) {
      if (log_)
        log_(LogLevel::warning, "the bundle's SPIR-V of shader " + request.name + " is not used: " + fault);
      continue;
    }
    ++precompiled_;
    return words;
  }
  return {};
}

// Validation takes two milliseconds a module, so that the cache folder remembers what was valid.
std::string ShaderCompiler::fault_of(const std::vector<uint32_t>& words) {
  if (!compiles_shaders()) return {};
  if (folder_.empty()) return spirv_fault(words);
  platform::Sha256 hash;
  hash.add_string("valid SPIR-V").add_string(glslang_version()).add(std::as_bytes(std::span(words)));
  const platform::Sha256Digest key = hash.finish();
  const std::filesystem::path path = path_of(key);
  if (read_cache_file(path, key, log_)) return {};
  std::string fault = spirv_fault(words);
  if (fault.empty()) keep(path, key, {});
  return fault;
}

std::vector<uint32_t> ShaderCompiler::compile(const ShaderRequest& request, std::string_view source) {
  std::call_once(glslang_started_, [&] { glslang_.emplace(); });
  std::vector<uint32_t> words =
      compile_glsl(request.name + ".comp", source, preamble_of(request), find_shader_source);
  ++compiled_;
  return words;
}

void ShaderCompiler::keep(const std::filesystem::path& path, const std::array<uint8_t, 32>& key,
                          const std::vector<uint32_t>& words) {
  if (!disk_is_writable_) return;
  try {
    write_cache_file(path, key, std::as_bytes(std::span(words)));
  } catch (const Error& error) {
    // One message, not one for each shader; running without the cache is only slower.
    if (disk_is_writable_.exchange(false) && log_)
      log_(LogLevel::warning, std::string("shaders will be compiled again next time: ") + error.what());
  }
}

}  // namespace vellum::gpu
