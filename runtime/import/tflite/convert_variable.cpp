// Converters of variables. A variable becomes an input of the graph, whose value is read before the first
// assignment, and an output, whose value is that after the run.
#include "import/tflite/call.hpp"
#include "import/tflite/variables.hpp"

namespace vellum::tflite {

// Its graph was read by read_variables().
void convert_call_once(const Call&) {}

void convert_var_handle(const Call& call) {
  call.writer.name_variable(call.output(), variable_name(call.op));
}

void convert_read_variable(const Call& call) { call.writer.read_variable(call.input(0), call.output()); }

void convert_assign_variable(const Call& call) { call.writer.assign_variable(call.input(0), call.input(1)); }

}  // namespace vellum::tflite
