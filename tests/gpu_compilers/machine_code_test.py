#!/usr/bin/python3
"""Hot loops of small programs in each assembly, counted by hand."""
import unittest

import machine_code

AMD = """==== NIR Shader(s): of no interest
==== Assembly: Final Assembly
BB0:
  v_mul_lo_u32 v0, v1, v2
BB1:
  buffer_load_b128 v[0:3], v4, s[0:3], 0 offen
  s_load_b512 s[4:19], s[20:21], 0x0
  v_fmac_f32_e32 v5, s4, v0
  v_dual_fmac_f32 v6, s5, v0 :: v_dual_fmac_f32 v7, s6, v1
  v_pk_fma_f16 v8, v0, v1, v8
  v_mul_lo_u32 v9, v9, v10
  v_add_nc_u32_e32 v4, 16, v4
  s_cbranch_scc1 BB1
BB2:
  s_endpgm
"""
IR3 = """==== IR3 Assembly: Final IR3 assembly for the native gpu binary
l1:
isam.1d (f32)(xyzw)r0.x, r4.x, s#0, t#1
(sy)mad.f32 r2.x, r0.x, r1.x, r2.x
(rpt3)mad.f32 r3.x, r0.y, (r)r1.x, (r)r3.x
(nop3) add.s r4.x, r4.x, 1
br p0.x, #l1
end
"""
GEN = """==== GEN Assembly: Final GEN assembly for the generated shader binary
LABEL1:
send(16) g10UD g9UD nullUD 0x0 0x0
mad(16) g20<1>F g20<8,8,1>F g10<8,8,1>F g2<0,1,0>F
mad(16) g22<1>F g22<8,8,1>F g12<8,8,1>F g2<0,1,0>F
add(16) g9<1>D g9<8,8,1>D 16D
(+f0.0) while(16) JIP: LABEL1 UIP: LABEL1
"""
NAK = """==== NAK assembly: NAK assembly
block 23 L28 [22] -> {
      r5      = iadd3 r1 r3 rZ                                  // delay=6
} -> [24]
block 24 L30 [23, 24] -> {
      r16..20 = ld.global.a64.constant.b128 [r8..10]            // delay=1 wr:0
      r4      = ffma.ftz r16 r20 r4                             // delay=1
      r5      = hfma2 r16 r20 r5                                // delay=1
      r6      = iadd3 r6 0x10 rZ                                // delay=6
@p0             bra L30                                         // delay=1
} -> [24, 25]
"""
AMD_BYTES = """==== Assembly: Final Assembly
BB1:
  buffer_load_b32 v0, v4, s[0:3], 0 offen
  v_dot4_i32_iu8 v5, s4, v0, v5 neg_lo:[1,0,0]
  v_dot4c_i32_i8_e32 v6, s5, v0
  v_add_nc_u32_e32 v4, 16, v4
  s_cbranch_scc1 BB1
"""
IR3_BYTES = """==== IR3 Assembly: Final IR3 assembly for the native gpu binary
l1:
isam.1d (u32)(xyzw)r0.x, r4.x, s#0, t#1
(sy)dp4acc.mixed.low r2.x, r0.x, r1.x, r2.x
(nop3) add.s r4.x, r4.x, 1
br p0.x, #l1
end
"""
GEN_BYTES = """==== GEN Assembly: Final GEN assembly for the generated shader binary
LABEL1:
send(16) g10UD g9UD nullUD 0x0 0x0
dp4a(16) g20<1>D g20<8,8,1>D g2<0,1,0>D g10<1,1,1>UD
add(16) g9<1>D g9<8,8,1>D 16D
(+f0.0) while(16) JIP: LABEL1 UIP: LABEL1
"""
VALHALL = """==== Assembly: Final Assembly
   IMUL.i32 r0, u6, u7
   LD_BUFFER.i128.unsigned.slot0.wait0 @r52:r53:r54:r55, ^r44, 0x1000000
   FMA.f32 r22, r48, ^r44, ^r22
   FMA.v2f16 r23, r48, ^r44, ^r23
   IADD.s32 r2, ^r57, u0
   BRANCHZ.eq.reconverge 0x0, offset:-5
   NOP.end
"""
NESTED = """==== Assembly: Final Assembly
BB1:
  v_fma_f32 v0, v1, v2, v0
  v_fma_f32 v0, v1, v2, v0
BB2:
  v_fma_f32 v3, v1, v2, v3
  buffer_load_b32 v1, v4, s[0:3], 0 offen
  s_cbranch_scc1 BB2
  s_cbranch_scc0 BB1
"""
UNROLLED = """==== Assembly: Final Assembly
BB0:
  v_mul_lo_u32 v4, v5, v6
  buffer_load_b128 v[0:3], v4, s[0:3], 0 offen
  v_fma_f32 v7, v0, v1, v7
  v_cndmask_b32_e32 v2, 0, v2, vcc
  v_fma_f32 v7, v2, v3, v7
  buffer_store_b32 v7, v4, s[0:3], 0 offen
  v_fma_f32 v8, v2, v3, v7
"""

# Products, then a polynomial of each sum.
ACTIVATED = """==== GEN Assembly: Final GEN assembly for the generated shader binary
LABEL1:
send(16) g10UD g9UD nullUD 0x0 0x0
mad(16) g20<1>F g20<8,8,1>F g10<8,8,1>F g2<0,1,0>F
mad(16) g22<1>F g22<8,8,1>F g12<8,8,1>F g2<0,1,0>F
(+f0.0) while(16) JIP: LABEL1 UIP: LABEL1
LABEL2:
mad(16) g20<1>F g20<8,8,1>F g10<8,8,1>F g2<0,1,0>F
mad(16) g22<1>F g22<8,8,1>F g12<8,8,1>F g2<0,1,0>F
mad(16) g24<1>F g24<8,8,1>F g14<8,8,1>F g2<0,1,0>F
mul(16) g9<1>F g9<8,8,1>F g9<8,8,1>F
mul(16) g9<1>F g9<8,8,1>F g9<8,8,1>F
mul(16) g9<1>F g9<8,8,1>F g9<8,8,1>F
math exp(16) g9<1>F g9<8,8,1>F null<8,8,1>F
send(16) nullUD g9UD nullUD 0x0 0x0
(+f0.0) while(16) JIP: LABEL2 UIP: LABEL2
"""


class HotLoop(unittest.TestCase):
    def expect(self, text, fmas, slots, loads):
        loop = machine_code.hot_loop(text)
        self.assertEqual((loop.fmas, loop.slots, loop.loads), (fmas, slots, loads))

    def test_amd_counts_dual_packed_and_quarter_rate_instructions(self):
        self.expect(AMD, fmas=1 + 2 + 2, slots=1 + 1 + 1 + 4 + 1, loads=1)

    def test_ir3_counts_repetitions_and_waits(self):
        self.expect(IR3, fmas=1 + 4, slots=1 + 4 + 3 + 1 + 1, loads=1)

    def test_gen_counts_messages_as_loads(self):
        self.expect(GEN, fmas=2, slots=3, loads=1)

    def test_nak_counts_packed_halves_twice(self):
        self.expect(NAK, fmas=1 + 2, slots=3, loads=1)

    def test_valhall_follows_offsets_of_branches(self):
        self.expect(VALHALL, fmas=1 + 2, slots=3, loads=1)

    def test_a_dot_product_of_bytes_is_four_multiply_adds(self):
        self.expect(AMD_BYTES, fmas=8, slots=3, loads=1)
        self.expect(IR3_BYTES, fmas=4, slots=1 + 3 + 1 + 1, loads=1)
        self.expect(GEN_BYTES, fmas=4, slots=2, loads=1)

    def test_the_innermost_loop_is_the_hot_one(self):
        self.expect(NESTED, fmas=1, slots=1, loads=1)

    def test_a_loop_that_multiplies_most_of_the_time_is_hotter_than_one_that_activates(self):
        self.expect(ACTIVATED, fmas=2, slots=2, loads=1)

    def test_without_a_loop_it_is_the_code_from_the_first_load_to_the_first_store(self):
        self.expect(UNROLLED, fmas=2, slots=3, loads=1)

    def test_of_loops_with_as_many_multiply_adds_as_asked_for(self):
        self.assertEqual(machine_code.hot_loop(ACTIVATED).fmas, 2)
        self.assertEqual(machine_code.hot_loop(ACTIVATED, fmas=3).fmas, 3)
        self.assertEqual(machine_code.hot_loop(ACTIVATED, fmas=5).fmas, 2)

    def test_without_multiply_adds_there_is_none(self):
        self.assertIsNone(machine_code.hot_loop("==== Assembly: x\nBB0:\n  v_add_f32 v0, v1, v2\n"))
        self.assertIsNone(machine_code.hot_loop(""))


if __name__ == "__main__":
    unittest.main()
