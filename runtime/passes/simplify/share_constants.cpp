#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "passes/rewrite/editor.hpp"
#include "passes/passes.hpp"
#include "platform/fingerprint.hpp"

namespace vellum {
namespace {

std::span<const std::byte> bytes_of(const HostTensor& tensor) { return {tensor.data(), tensor.byte_size()}; }

// A constant that others of its type may equal, which begin with the same bytes. They may be gigabytes of a
// mapped file: only then are they read to the end.
class Candidate {
 public:
  Candidate(ValueId id, const HostTensor& constant) : id_(id), constant_(&constant) {}

  ValueId id() const { return id_; }

  bool equals(Candidate& other) {
    if (constant_->data() == other.constant_->data()) return true;
    return content() == other.content() &&
           std::memcmp(constant_->data(), other.constant_->data(), constant_->byte_size()) == 0;
  }

 private:
  const platform::Fingerprint& content() {
    if (!content_) content_ = platform::fingerprint(bytes_of(*constant_));
    return *content_;
  }

  ValueId id_;
  const HostTensor* constant_;
  std::optional<platform::Fingerprint> content_;
};

std::string_view beginning(const HostTensor& constant) {
  constexpr size_t kPrefix = 4096;
  return {reinterpret_cast<const char*>(constant.data()), std::min(kPrefix, constant.byte_size())};
}

}  // namespace

void share_constants(Graph& graph) {
  GraphEditor editor(graph);
  std::map<std::tuple<DType, Shape, std::string_view>, std::vector<Candidate>> seen;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const HostTensor* constant = graph.constant(id);
    if (constant == nullptr || constant->byte_size() == 0 || editor.is_graph_output(id)) continue;
    std::vector<Candidate>& alike = seen[{constant->dtype(), constant->shape(), beginning(*constant)}];
    Candidate candidate(id, *constant);
    const auto twin = std::find_if(alike.begin(), alike.end(),
                                   [&](Candidate& earlier) { return earlier.equals(candidate); });
    if (twin == alike.end())
      alike.push_back(candidate);
    else
      editor.replace_reads(id, twin->id());
  }
  editor.commit();
}

}  // namespace vellum
