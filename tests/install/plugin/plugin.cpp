#include <vellum/vellum.hpp>

extern "C" size_t plugin_inputs(const char* file) { return vellum::Model::load(file).inputs().size(); }
