#include "vellum/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "quantize/calibration.hpp"
#include "quantize/equalize.hpp"
#include "quantize/insert.hpp"
#include "quantize/layers.hpp"
#include "quantize/write_onnx.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

using namespace quantization;

void check_options(const QuantizeOptions& options, size_t examples) {
  const uint32_t bits = options.weight_only_bits;
  if (bits != 0 && bits != 4 && bits != 8)
    throw Error(ErrorCode::invalid_argument,
                "weights of " + std::to_string(bits) + " bits; 4 and 8 are possible");
  if (!(options.percentile > 50.0 && options.percentile <= 100.0))
    throw Error(ErrorCode::invalid_argument, "a percentile of " + std::to_string(options.percentile));
  if (!(options.max_drop >= 0.0))
    throw Error(ErrorCode::invalid_argument, "a largest error of " + std::to_string(options.max_drop));
  if (bits == 0 && examples == 0)
    throw Error(ErrorCode::invalid_argument, "integers of activations need at least one example");
}

// A network of floats, and what is known of it.
class Quantizer {
 public:
  Quantizer(Graph floats, const Examples& examples, const QuantizeOptions& options)
      : floats_(std::move(floats)), examples_(examples), options_(options) {
    assignment_.signed_activations = options.signed_activations;
  }

  QuantizedModel run() {
    if (options_.equalize) equalize(floats_);
    find_parameters();
    measure_layers(options_.correct_biases);
    if (options_.correct_biases) measure_layers(false);
    QuantizedModel result = measure_network();
    if (options_.max_drop > 0 && worst_error(result) > options_.max_drop) result = keep_layers_in_floats();
    result.onnx = write_onnx(quantized_graph(floats_, assignment_));
    return result;
  }

 private:
  static double worst_error(const QuantizedModel& model) {
    double worst = 0.0;
    for (const QuantizedOutput& output : model.outputs) worst = std::max(worst, output.error);
    return worst;
  }

  void find_parameters() {
    const RoundedValues rounded = rounded_values(floats_, {});
    parameters_of_ = rounded.parameters_of;
    std::set<ValueId> sources;
    for (const ValueId id : rounded.values) sources.insert(rounded.parameters_of[id]);
    if (sources.empty()) throw Error(ErrorCode::unsupported, "the model has no layer that integers suit");
    ranges_ = find_ranges(floats_, {sources.begin(), sources.end()}, examples_, options_);
    for (const auto& [id, range] : ranges_)
      assignment_.parameters[id] = parameters_of(range, options_.signed_activations);
    // A layer that stays in floats may leave another value as the first of its kind.
    for (const ValueId id : rounded.values)
      assignment_.parameters[id] = assignment_.parameters.at(rounded.parameters_of[id]);
  }

  // The error of each layer with its own integers alone. With `corrects`, its mean is taken off the biases.
  void measure_layers(bool corrects) {
    const LayerErrorGraph own = own_errors_graph(floats_, assignment_);
    std::vector<Errors> errors(own.outputs.size());
    run_on_examples(own.graph, examples_, corrects ? "biases" : "layers", [&](const auto& outputs) {
      for (size_t i = 0; i < errors.size(); ++i) {
        const auto& [exact, noisy] = own.outputs[i];
        errors[i].add(outputs.at(own.graph.values[exact].name), outputs.at(own.graph.values[noisy].name),
                      channels_of(exact));
      }
    });
    for (size_t i = 0; i < errors.size(); ++i) {
      const Node& node = producer(own.outputs[i].first);
      const std::string name = layer_name(floats_, node);
      own_[name] = errors[i];
      if (corrects && has_weights(floats_, node))
        assignment_.bias_corrections[name] = errors[i].channel_means();
    }
  }

  QuantizedModel measure_network() {
    std::vector<ValueId> values = floats_.outputs;
    for (const Node& node : floats_.nodes)
      if (takes_integers(floats_, node) && std::ranges::count(values, node.outputs[0]) == 0)
        values.push_back(node.outputs[0]);
    Graph exact = floats_, noisy = quantized_graph(floats_, assignment_);
    exact.outputs = noisy.outputs = values;
    std::map<std::string, Errors> errors;
    // Both networks run on each example before the next: the values of one example are in memory at a time.
    run_side_by_side(exact, noisy, values, errors);
    QuantizedModel result;
    for (const ValueId id : floats_.outputs) {
      const Errors& error = errors[floats_.values[id].name];
      result.outputs.push_back({floats_.values[id].name, error.ratio(), error.error()});
    }
    for (const Node& node : floats_.nodes)
      if (takes_integers(floats_, node)) result.layers.push_back(describe_layer(node, errors));
    return result;
  }

  void run_side_by_side(const Graph& exact, const Graph& noisy, const std::vector<ValueId>& values,
                        std::map<std::string, Errors>& errors) const {
    const Model models[] = {Handles::model(std::make_shared<const Model::Impl>(exact)),
                            Handles::model(std::make_shared<const Model::Impl>(noisy))};
    Session first(examples_.device, models[0]), second(examples_.device, models[1]);
    for (size_t i = 0; i < examples_.count; ++i) {
      if (examples_.progress) examples_.progress("network", i, examples_.count);
      const InputTensors inputs = examples_.example(i);
      const auto expected = first.run(inputs), got = second.run(inputs);
      for (const ValueId id : values) {
        const std::string& name = floats_.values[id].name;
        errors[name].add(expected.at(name), got.at(name), SIZE_MAX);
      }
    }
    if (examples_.progress) examples_.progress("network", examples_.count, examples_.count);
  }

  QuantizedLayer describe_layer(const Node& node, const std::map<std::string, Errors>& errors) const {
    QuantizedLayer layer;
    layer.name = layer_name(floats_, node);
    layer.op = node.op->type();
    layer.in_integers = !assignment_.in_floats.contains(layer.name);
    const auto range = ranges_.find(parameters_of_[node.inputs[0]]);
    if (range != ranges_.end()) {
      layer.low = range->second.low;
      layer.high = range->second.high;
    }
    if (const auto own = own_.find(layer.name); own != own_.end()) layer.own_ratio = own->second.ratio();
    if (const auto network = errors.find(layer.name); network != errors.end())
      layer.network_ratio = network->second.ratio();
    return layer;
  }

  // Finds by bisection how many of the layers with the greatest errors of their own have to stay in floats.
  QuantizedModel keep_layers_in_floats() {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, error] : own_) order.emplace_back(error.ratio(), name);
    std::ranges::sort(order);
    const auto keep = [&](size_t count) {
      assignment_.in_floats.clear();
      for (size_t i = 0; i < count; ++i) assignment_.in_floats.insert(order[i].second);
      return measure_network();
    };
    size_t low = 0, high = order.size();  // `low` layers are too few
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (worst_error(keep(middle)) <= options_.max_drop ? high : low) = middle;
    }
    return keep(high);
  }

  const Node& producer(ValueId id) const {
    return *std::ranges::find_if(floats_.nodes, [&](const Node& node) { return node.outputs[0] == id; });
  }
  size_t channels_of(ValueId id) const {
    const Node& node = producer(id);
    return has_weights(floats_, node) ? output_channel_axis(floats_, node) : SIZE_MAX;
  }

  Graph floats_;
  const Examples& examples_;
  const QuantizeOptions& options_;
  Assignment assignment_;
  std::map<ValueId, Range> ranges_;
  std::vector<ValueId> parameters_of_;  // RoundedValues
  std::map<std::string, Errors> own_;
};

QuantizedModel quantize_weights(const Graph& floats, int bits) {
  std::set<ValueId> four_bits;
  const Graph graph = weights_only_graph(floats, bits, four_bits);
  QuantizedModel result;
  result.onnx = write_onnx(graph, four_bits);
  for (const Node& node : floats.nodes)
    if (has_weights(floats, node))
      result.layers.push_back({.name = layer_name(floats, node), .op = std::string(node.op->type())});
  return result;
}

// Returns the float graph with integers of one range for all tensors.
Graph with_one_range(const Graph& floats) {
  Assignment assignment;
  for (const ValueId id : rounded_values(floats, {}).values)
    assignment.parameters[id] = parameters_of({-1.0f, 1.0f}, false);
  if (assignment.parameters.empty())
    throw Error(ErrorCode::unsupported, "the model has no layer that integers suit");
  return quantized_graph(floats, assignment);
}

}  // namespace

Model quantized_stand_in(const Model& model, const InputShapes& input_shapes) {
  return guard([&] {
    const Graph floats = float_graph(impl(model)->graph, input_shapes);
    return Handles::model(std::make_shared<const Model::Impl>(with_one_range(floats)));
  });
}

QuantizedModel quantize(const Device& device, const Model& model, size_t examples,
                        const QuantizeExample& example, const QuantizeOptions& options) {
  return guard([&] {
    check_options(options, examples);
    Graph floats = float_graph(impl(model)->graph, options.input_shapes);
    if (options.weight_only_bits != 0)
      return quantize_weights(floats, static_cast<int>(options.weight_only_bits));
    const Examples all{device, examples, example, options.progress};
    return Quantizer(std::move(floats), all, options).run();
  });
}

}  // namespace vellum
