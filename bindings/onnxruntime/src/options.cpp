#include "options.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "platform/utf8_path.hpp"

namespace vellum::ort {

// Where the runtime puts the options of a provider of this name.
constexpr std::string_view kPrefix = "ep.vellumexecutionprovider.";

ProviderOptions read_options(const OrtSessionOptions& options) {
  OrtKeyValuePairs* pairs = nullptr;
  check(api().GetSessionOptionsConfigEntries(&options, &pairs));
  const std::unique_ptr<OrtKeyValuePairs, void (*)(OrtKeyValuePairs*)> owner(
      pairs, [](OrtKeyValuePairs* released) { api().ReleaseKeyValuePairs(released); });
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  api().GetKeyValuePairs(pairs, &keys, &values, &count);
  std::map<std::string, std::string> own;
  ContextOptions context;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i], value = values[i];
    if (key.starts_with(kPrefix)) own[std::string(key.substr(kPrefix.size()))] = value;
    if (key == "ep.context_enable") context.enabled = value == "1";
    if (key == "ep.context_embed_mode") context.embed = value == "1";
    if (key == "ep.context_file_path") context.file = platform::utf8_path(value);
    if (key == "ep.context_node_name_prefix") context.name_prefix = value;
  }
  return {plugin::parse_options(own), std::move(context)};
}

}  // namespace vellum::ort
