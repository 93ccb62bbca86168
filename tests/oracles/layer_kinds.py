"""The command line of sweeps over kinds of layers, of which each is compared with another engine."""
import argparse
import sys

TOLERANCE = 2e-6  # of the greatest result, times the square root of the number of products


def is_close(error, terms):
    """Returns whether an error, as a fraction of the greatest result, is the rounding of fp32 in a sum of `terms` products."""
    return error <= TOLERANCE * terms ** 0.5


def report(kind, wrong, layers, worst, ratio):
    """Prints the result of a kind; `ratio`: bytes of weights on the device by those of the file."""
    print(f"{kind:18} {wrong:4} of {layers} differ, at most {worst:.1e}; weights {ratio:.2f} x the file's", flush=True)


def parser_of_kinds(count):
    """Returns a parser with the tool, kinds of layers, a seed and the number of layers of a kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=count)
    return parser


def check_kinds(parser, kinds, check_kind):
    """Calls check_kind(arguments, kind) for each kind, all of them if none is named, and exits with 1 if one returns False."""
    arguments = parser.parse_intermixed_args()
    sys.exit(not all([check_kind(arguments, kind) for kind in arguments.kinds or kinds]))
