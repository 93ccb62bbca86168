// Include it before anything that is no directive.
#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
