#!/usr/bin/python3
"""Prints how near a few kernels come to the ceilings of the device, beside what was recorded last:
    tests/bench/ceiling_ratios.py BUILD_FOLDER [--record]
Fails where a kernel computes something wrong, never for being slow. --record writes ceiling_ratios.json anew, which holds
the ratios of each device.
"""
import json
import pathlib
import sys

from kernel_results import run_kernel_bench

RECORDED = pathlib.Path(__file__).with_suffix(".json")


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--record"]):
        sys.exit(__doc__)
    context, results = run_kernel_bench(sys.argv[1], "--quick", "--precision=fp32", "--reach=image,texel_buffer", "--runs=10")
    recorded = json.loads(RECORDED.read_text())
    device = f"{context['device']}, {context['driver']}"
    now = {f"{kernel}, {reach}": round(run["of_ceiling"], 3) for (kernel, reach, _), run in results.items()}
    before = recorded.get(device, {})
    print(f"{device}: {context['multiply_add_gflops']} GF/s of multiply-adds; GB/s loaded from and stored in images "
          f"{context['load_gbytes_image']} and {context['store_gbytes_image']}, buffers read as texels "
          f"{context['load_gbytes_texel_buffer']} and {context['store_gbytes_texel_buffer']}; {context['dispatch_us']} µs a dispatch")
    print(f"{'kernel':45} {'of ceiling':>10} {'recorded':>9} {'ratio':>6}")
    for kernel, ratio in now.items():
        last = before.get(kernel)
        print(f"{kernel:45} {ratio:10.3f} {'-' if last is None else f'{last:.3f}':>9} "
              f"{'-' if not last else f'{ratio / last:.2f}':>6}")
    if sys.argv[2:]:
        RECORDED.write_text(json.dumps({**recorded, device: now}, indent=2) + "\n")


main()
