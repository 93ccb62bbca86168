// The generated readers of TFLite files. Only this folder and bindings/tflite include it.
#pragma once

#include <vellum_tflite_generated.h>
