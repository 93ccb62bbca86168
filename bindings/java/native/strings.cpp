// UTF-16 of Java to UTF-8 and back. JNI's own functions write surrogates as three bytes each, which no file
// system knows.
#include <algorithm>
#include <cstring>
#include <memory>

#include "support.hpp"

namespace vellum::jni {
namespace {

constexpr char32_t replacement = 0xFFFD;

bool is_high(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

void append_utf8(std::string& text, char32_t point) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6), add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12), add(0x80 | (point >> 6 & 0x3F)), add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18), add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F)), add(0x80 | (point & 0x3F));
  }
}

// Reads one code point and advances; bytes that are no UTF-8 become U+FFFD, each.
char32_t next_point(const unsigned char*& at, const unsigned char* end) {
  const char32_t lead = *at++;
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 && lead < 0xF5 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead >= 0xF5 || end - at < more) return replacement;
  char32_t point = lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) {
    if ((at[i] & 0xC0) != 0x80) return replacement;
    point = point << 6 | (at[i] & 0x3Fu);
  }
  const char32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
  if (point < least || point > 0x10FFFF || is_high(point) || is_low(point)) return replacement;
  at += more;
  return point;
}

}  // namespace

std::string to_utf8(JNIEnv* env, jstring text) {
  if (!text) throw_vellum(env, VELLUM_INVALID_ARGUMENT, "a string is null");
  std::vector<jchar> units(static_cast<size_t>(env->GetStringLength(text)));
  if (!units.empty()) env->GetStringRegion(text, 0, static_cast<jsize>(units.size()), units.data());
  std::string utf8;
  for (size_t i = 0; i < units.size(); ++i) {
    char32_t point = units[i];
    if (is_high(point) && i + 1 < units.size() && is_low(units[i + 1]))
      point = 0x10000 + ((point - 0xD800) << 10) + (units[++i] - 0xDC00u);
    else if (is_high(point) || is_low(point))
      point = replacement;
    if (point == 0) throw_vellum(env, VELLUM_INVALID_ARGUMENT, "a string contains a NUL character");
    append_utf8(utf8, point);
  }
  return utf8;
}

Local<jstring> to_java(JNIEnv* env, const char* utf8) {
  std::vector<jchar> units;
  const auto* at = reinterpret_cast<const unsigned char*>(utf8);
  const unsigned char* end = at + std::strlen(utf8);
  while (at != end) {
    const char32_t point = next_point(at, end);
    if (point >= 0x10000) {
      units.push_back(static_cast<jchar>(0xD800 + ((point - 0x10000) >> 10)));
      units.push_back(static_cast<jchar>(0xDC00 + ((point - 0x10000) & 0x3FF)));
    } else {
      units.push_back(static_cast<jchar>(point));
    }
  }
  const jchar none = 0;
  return {env, env->NewString(units.empty() ? &none : units.data(), static_cast<jsize>(units.size()))};
}

Local<jstring> take_text(JNIEnv* env, vellum_text* made) {
  const std::unique_ptr<vellum_text, decltype(&vellum_text_destroy)> text(made, vellum_text_destroy);
  return to_java(env, vellum_text_data(text.get()));
}

std::vector<std::string> to_strings(JNIEnv* env, jobjectArray strings) {
  std::vector<std::string> texts(static_cast<size_t>(env->GetArrayLength(strings)));
  for (size_t i = 0; i < texts.size(); ++i) {
    const Local<jstring> text(env, env->GetObjectArrayElement(strings, static_cast<jsize>(i)));
    texts[i] = to_utf8(env, text.get());
  }
  return texts;
}

jobjectArray to_java(JNIEnv* env, const std::vector<const char*>& strings) {
  return make_array(env, "java/lang/String", strings.size(),
                    [&](size_t i) { return to_java(env, strings[i]); });
}

}  // namespace vellum::jni
