#pragma once

class type_info {
 public:
  type_info(const type_info&) = delete;
  type_info& operator=(const type_info&) = delete;
  virtual ~type_info() noexcept;
  size_t hash_code() const noexcept;
  bool operator==(const type_info&) const noexcept;
  bool before(const type_info&) const noexcept;
  const char* name() const noexcept;
};

namespace std {
using ::type_info;
class bad_cast : public exception {};
class bad_typeid : public exception {};
}  // namespace std
