#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "platform/fingerprint.hpp"

namespace vellum {
namespace {

std::span<const std::byte> bytes_of(const HostTensor& tensor) { return {tensor.data(), tensor.byte_size()}; }

// A constant that others of the same type and the same first bytes may equal. Constants may be gigabytes of a
// mapped file, so they are read to the end only to compare such ones.
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

std::string_view first_bytes(const HostTensor& constant) {
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
    std::vector<Candidate>& candidates = seen[{constant->dtype(), constant->shape(), first_bytes(*constant)}];
    Candidate candidate(id, *constant);
    const auto twin = std::find_if(candidates.begin(), candidates.end(),
                                   [&](Candidate& earlier) { return earlier.equals(candidate); });
    if (twin == candidates.end())
      candidates.push_back(candidate);
    else
      editor.replace_reads(id, twin->id());
  }
  editor.commit();
}

}  // namespace vellum
