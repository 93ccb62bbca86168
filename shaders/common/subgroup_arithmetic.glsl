// Enables subgroup arithmetic with SUBGROUP. An #extension must precede all code, so include this file first.
#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
