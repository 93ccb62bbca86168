// Nodes that move elements.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "differential/graph_maker.hpp"

namespace vellum::test {

void GraphMaker::reshape() {
  const auto x = any();
  if (!x) return;
  const int64_t rank = static_cast<int64_t>(shape(*x).size());
  switch (pick(4)) {
    case 0: {
      Ints permutation;
      for (int64_t i = 0; i < rank; ++i) permutation.push_back(i);
      for (size_t i = permutation.size(); i > 1; --i) std::swap(permutation[i - 1], permutation[pick(i)]);
      node("Transpose", {*x}, attributes({{"perm", permutation}}), Rounds::never);
      break;
    }
    case 1:
      node("Flatten", {*x}, attributes({{"axis", between(0, rank)}}), Rounds::never);
      break;
    case 2: {
      // Two neighbouring dimensions become one, or one becomes two.
      Ints to = shape(*x);
      const size_t at = pick(to.size());
      if (to.size() > 1 && at + 1 < to.size()) {
        to[at] *= to[at + 1];
        to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      } else if (to[at] % 2 == 0 && to.size() < 5) {
        to[at] /= 2;
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), 2);
      }
      node("Reshape", {*x, integers(to)}, {}, Rounds::never);
      break;
    }
    default:
      if (rank < 5) node("Unsqueeze", {*x, integers({between(0, rank)})}, {}, Rounds::never);
  }
}

void GraphMaker::cut() {
  const auto x = any();
  if (!x) return;
  const size_t axis = pick(shape(*x).size());
  const int64_t length = shape(*x)[axis];
  switch (pick(4)) {
    case 0: {
      const int64_t begin = between(0, length - 1), step = chance(4) ? -1 : between(1, 2);
      const int64_t end = step < 0 ? -length - 1 : between(begin + 1, length);
      node("Slice",
           {*x, integers({begin}), integers({end}), integers({static_cast<int64_t>(axis)}), integers({step})},
           {}, Rounds::never);
      break;
    }
    case 1:
      if (length > 1) {
        const int64_t first = between(1, length - 1);
        node("Split", {*x, integers({first, length - first})},
             attributes({{"axis", static_cast<int64_t>(axis)}}), Rounds::never, 2);
      }
      break;
    case 2: {
      Ints pads(2 * shape(*x).size(), 0);
      for (int64_t& pad : pads)
        if (chance(3)) pad = between(0, 2);
      static constexpr const char* modes[] = {"constant", "edge", "reflect"};
      node("Pad", {*x, integers(pads)}, attributes({{"mode", std::string(modes[pick(3)])}}), Rounds::never);
      break;
    }
    default: {
      Ints indices;
      for (int64_t i = between(1, 4); i > 0; --i) indices.push_back(between(-length, length - 1));
      node("Gather", {*x, integers(indices)}, attributes({{"axis", static_cast<int64_t>(axis)}}),
           Rounds::never);
    }
  }
}

void GraphMaker::join() {
  const auto x = any();
  if (!x) return;
  const size_t axis = pick(shape(*x).size());
  std::vector<size_t> parts{*x};
  while (parts.size() < 3) {
    Shape other = shape(*x);
    other[axis] = between(1, 5);
    const auto value = any(other.size());
    parts.push_back(value && chance(2) ? *value : floats(other));
  }
  node("Concat", parts, attributes({{"axis", static_cast<int64_t>(axis)}}), Rounds::never);
}

void GraphMaker::repeat() {
  const auto x = any();
  if (!x) return;
  if (chance(2)) {
    Ints repeats;
    for (size_t i = 0; i < shape(*x).size(); ++i) repeats.push_back(chance(3) ? 2 : 1);
    node("Tile", {*x, integers(repeats)}, {}, Rounds::never);
  } else {
    Ints to = shape(*x);
    for (int64_t& dim : to)
      if (dim == 1) dim = between(1, 3);
    node("Expand", {*x, integers(to)}, {}, Rounds::never);
  }
}

void GraphMaker::move_between_space_and_depth() {
  const auto x = any(4);
  if (!x) return;
  const bool to_space = chance(2);
  node(to_space ? "DepthToSpace" : "SpaceToDepth", {*x},
       to_space ? attributes({{"blocksize", int64_t{2}}, {"mode", std::string(chance(2) ? "DCR" : "CRD")}})
                : attributes({{"blocksize", int64_t{2}}}),
       Rounds::never);
}

}  // namespace vellum::test
