// The tools with which passes rewrite graphs: reading, inserting, replacing and removing nodes.
#include "graph/operators/elementwise/unary.hpp"
#include "passes/pass_harness.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum::test {
namespace {

// x -> Relu -> a -> Neg -> b -> Exp -> y
Graph chain() {
  OnnxModel m;
  m.input("x", {2, 3}).node("Relu", {"x"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Exp", {"b"}, {"y"});
  m.output("y");
  Graph graph = m.graph();
  infer_shapes_and_fold(graph, {});
  return graph;
}

std::shared_ptr<const Operator> unary(UnaryKind kind) {
  auto op = std::make_shared<Unary>();
  op->kind = kind;
  return op;
}

std::vector<size_t> visited(const auto& nodes) {
  std::vector<size_t> indices;
  for (const size_t index : nodes) indices.push_back(index);
  return indices;
}

const std::string& name_of(const Graph& graph, ValueId value) { return graph.values[value].name; }

TEST(GraphEditor, FindsProducersAndReaders) {
  Graph graph = chain();
  const GraphEditor editor(graph);
  const ValueId a = *graph.find_value("a"), x = *graph.find_value("x"), y = *graph.find_value("y");
  EXPECT_EQ(editor.producer(a), 0u);
  EXPECT_EQ(editor.producer(x), std::nullopt);
  EXPECT_EQ(editor.only_reader(a), 1u);
  EXPECT_EQ(editor.only_reader(y), std::nullopt) << "a graph output has readers outside of the graph";
  EXPECT_TRUE(editor.is_read(y));
}

TEST(GraphEditor, InsertedNodesHaveTheirPlaceInTheOrder) {
  Graph graph = chain();
  GraphEditor editor(graph);
  const ValueId a = *graph.find_value("a"), b = *graph.find_value("b");
  const TensorType type = graph.values[a].type;
  // Before the first node, before the last one, and after the last one.
  const ValueId first = editor.compute_before(0, "a", unary(UnaryKind::abs), {graph.inputs[0]}, type);
  const ValueId middle = editor.compute_before(2, "m", unary(UnaryKind::sin), {b}, type);
  const ValueId unread = editor.add_value("z", type);
  editor.insert_after(2, {"z", unary(UnaryKind::cos), {middle}, {unread}});
  editor.set_inputs(0, {first});
  editor.set_inputs(2, {middle});
  EXPECT_EQ(visited(editor.nodes()), (std::vector<size_t>{3, 0, 1, 4, 2, 5}));
  EXPECT_EQ(visited(editor.nodes_backwards()), (std::vector<size_t>{5, 2, 4, 1, 0, 3}));
  EXPECT_EQ(editor.only_reader(b), 4u);
  EXPECT_EQ(editor.readers(middle), (std::vector<size_t>{5, 2}));
  editor.commit();
  check(graph);
  EXPECT_EQ(types(graph), "Abs Relu Neg Sin Exp Cos");
  EXPECT_EQ(name_of(graph, first), "a_2") << "the name was taken";
}

TEST(GraphEditor, VisitsWhatIsInsertedAheadAndSkipsWhatIsRemoved) {
  Graph graph = chain();
  GraphEditor editor(graph);
  std::vector<size_t> indices;
  for (const size_t index : editor.nodes()) {
    indices.push_back(index);
    if (index != 0) continue;
    const ValueId a = editor.node(0).outputs[0];
    const ValueId copy = editor.add_value("copy", editor.type(a));
    EXPECT_EQ(editor.insert_after(0, {"copy", unary(UnaryKind::abs), {a}, {copy}}), 3u);
    editor.set_inputs(2, {copy});
    editor.remove(1);
  }
  EXPECT_EQ(indices, (std::vector<size_t>{0, 3, 2}));
  editor.commit();
  check(graph);
  EXPECT_EQ(types(graph), "Relu Abs Exp");
}

TEST(GraphEditor, RemovesTheNodeThatIsVisited) {
  for (const bool backwards : {false, true}) {
    Graph graph = chain();
    GraphEditor editor(graph);
    for (const size_t index : backwards ? editor.nodes_backwards() : editor.nodes())
      if (editor.node(index).op->type() == "Neg") editor.bypass(index);
    editor.commit();
    check(graph);
    EXPECT_EQ(types(graph), "Relu Exp");
  }
}

TEST(GraphEditor, AReplacementComputesWhatTheRemovedNodeComputed) {
  Graph graph = chain();
  GraphEditor editor(graph);
  const ValueId b = *graph.find_value("b");
  const std::vector<ValueId> inputs = editor.node(1).inputs;
  const size_t inserted = editor.insert_before(1, {"new", unary(UnaryKind::floor), inputs, {b}});
  editor.remove(1);
  EXPECT_EQ(editor.producer(b), inserted);
  editor.replace(2, {"last", unary(UnaryKind::log), {b}, editor.node(2).outputs});
  editor.commit();
  check(graph);
  EXPECT_EQ(types(graph), "Relu Floor Log");
  EXPECT_EQ(graph.nodes[2].name, "last");
}

TEST(GraphEditor, NamesOfGraphOutputsStay) {
  OnnxModel m;
  m.input("x", {2}).node("Identity", {"x"}, {"copy"}).node("Neg", {"x"}, {"n"});
  m.node("Identity", {"n"}, {"y"}).output("copy").output("y");
  Graph graph = m.graph();
  infer_shapes_and_fold(graph, {});
  GraphEditor editor(graph);
  EXPECT_FALSE(editor.bypass(0)) << "between a graph input and a graph output";
  EXPECT_TRUE(editor.bypass(2));
  editor.commit();
  check(graph);
  EXPECT_EQ(types(graph), "Identity Neg");
  EXPECT_EQ(name_of(graph, graph.nodes[1].outputs[0]), "y");
}

TEST(UniqueNames, CountsUpFromWhatIsTaken) {
  Graph graph;
  for (const char* name : {"a", "a_2", "a_4"}) graph.add_value(name);
  UniqueNames names(graph);
  EXPECT_EQ(names.make("b"), "b");
  EXPECT_EQ(names.make("a"), "a_3");
  EXPECT_EQ(names.make("a"), "a_5");
  EXPECT_EQ(names.make("a_3"), "a_3_2");
  EXPECT_EQ(names.make("b"), "b_2");
}

}  // namespace
}  // namespace vellum::test
