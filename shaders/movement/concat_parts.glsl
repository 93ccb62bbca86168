// The parts x0, x1, ... of a concatenation, which follow each other in y. INPUTS: how many there are, 1 to 8. FOR_PARTS(f) is
// f(part, where it begins, where it ends) for each; `begin`, `ends` and `further_ends` are parameters.
#define FOR_1(f) f(x0, begin, ends.x)
#define FOR_2(f) FOR_1(f) f(x1, ends.x, ends.y)
#define FOR_3(f) FOR_2(f) f(x2, ends.y, ends.z)
#define FOR_4(f) FOR_3(f) f(x3, ends.z, ends.w)
#define FOR_5(f) FOR_4(f) f(x4, ends.w, further_ends.x)
#define FOR_6(f) FOR_5(f) f(x5, further_ends.x, further_ends.y)
#define FOR_7(f) FOR_6(f) f(x6, further_ends.y, further_ends.z)
#define FOR_8(f) FOR_7(f) f(x7, further_ends.z, further_ends.w)
#define FOR_PARTS(f) CAT(FOR_, INPUTS)(f)
