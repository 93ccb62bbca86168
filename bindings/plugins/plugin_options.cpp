#include "plugin_options.hpp"

#include <charconv>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "platform/utf8_path.hpp"

namespace vellum::plugin {
namespace {

// Throws without the option's name, which the caller adds.
[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

template <typename Value>
Value choose(const std::string& text, std::initializer_list<std::pair<const char*, Value>> words) {
  std::string all;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  refuse("it must be one of " + all);
}

uint64_t to_number(std::string_view text, uint64_t most = UINT64_MAX) {
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number > most)
    refuse("it must be a whole number up to " + std::to_string(most));
  return number;
}

// "67108864", "64MiB", "64M".
uint64_t to_bytes(std::string_view text) {
  static constexpr std::pair<std::string_view, int> kUnits[] = {
      {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"K", 10}, {"M", 20}, {"G", 30}, {"B", 0}};
  for (const auto& [unit, shift] : kUnits)
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      return to_number(text, UINT64_MAX >> shift) << shift;
    }
  return to_number(text);
}

bool to_flag(const std::string& text) {
  return choose<bool>(
      text, {{"1", true}, {"0", false}, {"true", true}, {"false", false}, {"True", true}, {"False", false}});
}

using Setter = std::function<void(PluginOptions&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> kSetters{
      {"device", [](auto& options, const auto& text) { options.device.device = text; }},
      {"cache",
       [](auto& options, const auto& text) { options.device.cache_folder = platform::utf8_path(text); }},
      {"self_check",
       [](auto& options, const auto& text) {
         options.device.self_check = choose<SelfCheck>(
             text, {{"auto", SelfCheck::automatic}, {"off", SelfCheck::off}, {"on", SelfCheck::on}});
       }},
      {"precision",
       [](auto& options, const auto& text) {
         options.session.precision =
             choose<Precision>(text, {{"fp32", Precision::fp32}, {"fp16", Precision::fp16}});
       }},
      {"arithmetic",
       [](auto& options, const auto& text) {
         options.session.arithmetic = choose<Arithmetic>(
             text, {{"fp32", Arithmetic::fp32}, {"fp16", Arithmetic::fp16}, {"auto", Arithmetic::automatic}});
       }},
      {"storage",
       [](auto& options, const auto& text) {
         options.session.storage = choose<StorageChoice>(text, {{"auto", StorageChoice::automatic},
                                                                {"image2d", StorageChoice::image2d},
                                                                {"image3d", StorageChoice::image3d},
                                                                {"buffer", StorageChoice::buffer}});
       }},
      {"memory",
       [](auto& options, const auto& text) {
         options.session.memory = choose<MemoryMode>(text, {{"shared-objects", MemoryMode::shared_objects},
                                                            {"offsets", MemoryMode::offsets},
                                                            {"naive", MemoryMode::naive}});
       }},
      {"memory_budget",
       [](auto& options, const auto& text) { options.session.memory_budget = to_bytes(text); }},
      {"weights_budget",
       [](auto& options, const auto& text) { options.session.weights_budget = to_bytes(text); }},
      {"budget_allows_fp16",
       [](auto& options, const auto& text) { options.session.budget_allows_fp16 = to_flag(text); }},
      {"max_submit_ms",
       [](auto& options, const auto& text) {
         options.session.max_submit_ms = static_cast<uint32_t>(to_number(text, 3'600'000));
       }},
      {"winograd",
       [](auto& options, const auto& text) {
         options.session.winograd = choose<Winograd>(text, {{"auto", Winograd::automatic},
                                                            {"off", Winograd::off},
                                                            {"f2", Winograd::f2},
                                                            {"f4", Winograd::f4}});
       }},
      {"tuned", [](auto& options, const auto& text) { options.session.tuned = to_flag(text); }},
      {"cached_shapes",
       [](auto& options, const auto& text) {
         options.session.cached_shapes = static_cast<uint32_t>(to_number(text, 1024));
         if (options.session.cached_shapes == 0) refuse("it must be at least 1");
       }},
      {"claim",
       [](auto& options, const auto& text) {
         options.claim = choose<Claims>(
             text, {{"auto", Claims::automatic}, {"all", Claims::all}, {"whole", Claims::whole}});
       }},
      {"claim_report",
       [](auto& options, const auto& text) { options.claim_report = platform::utf8_path(text); }},
      {"profile_html",
       [](auto& options, const auto& text) {
         options.profile_html = platform::utf8_path(text);
         options.session.profile = !text.empty();
       }},
  };
  return kSetters;
}

}  // namespace

PluginOptions parse_options(const std::map<std::string, std::string>& options) {
  PluginOptions result;
  if (const std::filesystem::path caches = default_cache_folder(); !caches.empty())
    result.device.cache_folder = caches / "pipelines";
  for (const auto& [name, text] : options) {
    const auto setter = setters().find(name);
    if (setter == setters().end()) {
      std::string known;
      for (const auto& [other, set] : setters()) known += (known.empty() ? "" : ", ") + other;
      throw Error(ErrorCode::invalid_argument, "there is no option '" + name + "'; there are " + known);
    }
    try {
      setter->second(result, text);
    } catch (const Error& error) {
      throw Error(error.code(), "option " + name + "=" + text + ": " + error.what());
    }
  }
  return result;
}

}  // namespace vellum::plugin
