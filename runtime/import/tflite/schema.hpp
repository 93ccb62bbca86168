// The generated readers of TFLite files. Included by this folder alone.
#pragma once

#include <vellum_tflite_generated.h>
