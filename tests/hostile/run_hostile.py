#!/usr/bin/env python3
"""Gives hostile model files to the tool and checks how it ends.

    run_hostile.py VELLUM [--commands inspect,estimate,plan,run] [--only TEXT] [--every N] [--keep FOLDER]

Each run must end by itself within 10 s of CPU and 1.5 GiB, with status 0 or 1, and in the latter case with one line that
names the cause. Prints what fails; the exit status is 1 then.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile

from hostile_files import FIFO
from hostile_models import models

CPU_SECONDS = 10
MEMORY = 3 << 29  # 1.5 GiB
COMMANDS = {"inspect": ["inspect"], "estimate": ["estimate"], "plan": ["inspect", "--stage", "plan"],
            "run": ["bench", "--runs", "1", "--warm-up", "0", "--cache", ""]}


def limits(address_space):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(600)  # who waits takes no time of the processor; a busy machine gives little of it
    return set_limits


def run(tool, command, file, address_space):
    """Returns what is wrong (None: nothing), seconds of CPU, resident bytes, and what the tool said."""
    words = [tool, COMMANDS[command][0], file] + COMMANDS[command][1:]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                 preexec_fn=limits(address_space))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status  # subprocess need not wait
        said.seek(0)
        message = said.read().decode(errors="replace")
    cpu, resident = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    return judge(status, resident, message), cpu, resident, message


def judge(status, resident, message):
    if os.WIFSIGNALED(status):
        return "ended by signal %d" % os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    lines = [line for line in message.splitlines() if line and not line.startswith("vellum: warning: ")]
    if code not in (0, 1):
        return "status %d" % code
    if resident > MEMORY:
        return "%d MiB" % (resident >> 20)
    if code == 1 and len(lines) != 1:
        return "%d lines instead of one" % len(lines)
    if code == 1 and ("internal" in lines[0] or len(lines[0]) > 2100):
        return "an internal error, or a message of %d bytes" % len(lines[0])
    return None


def write_beside(path, content):
    if os.path.lexists(path):
        os.unlink(path)
    if content is FIFO:
        os.mkfifo(path)
    elif isinstance(content, str):
        os.symlink(content, path)
    else:
        with open(path, "wb") as file:
            file.write(content)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--commands", default="inspect,estimate,run")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th file")
    parser.add_argument("--address-space", type=lambda text: int(text, 0), default=4 * MEMORY, metavar="BYTES",
                        help="what the process may map: 6 GiB, or one that is stopped by it at 1.5 GiB would pass")
    parser.add_argument("--keep", help="write the files here")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="vellum_hostile_")
    os.makedirs(folder, exist_ok=True)
    failed = count = 0
    slowest, largest = [], []
    for number, (family, name, content) in enumerate(models(options.only)):
        if number % options.every:
            continue
        path = os.path.join(folder, "".join(c if c.isalnum() or c in "-._" else "_" for c in name)[:100] + ".onnx")
        content, others = content if isinstance(content, tuple) else (content, {})
        content = content() if callable(content) else content
        with open(path, "wb") as file:
            file.write(content)
        for other in others:
            write_beside(os.path.join(folder, other), others[other])
        for command in options.commands.split(","):
            problem, cpu, resident, message = run(options.tool, command, path, options.address_space)
            count += 1
            slowest.append((cpu, command, name))
            largest.append((resident >> 20, command, name))
            if problem:
                failed += 1
                print("FAILED %s/%s %s: %s (%.1f s): %s" % (family, name, command, problem, cpu, message.strip()[-300:]),
                      flush=True)
            elif options.verbose:
                print("%s/%s %s (%.1f s): %s" % (family, name, command, cpu, message.strip()[:200]), flush=True)
        if not options.keep:
            os.unlink(path)
            for other in others:
                os.unlink(os.path.join(folder, other))
    slowest.sort(reverse=True)
    largest.sort(reverse=True)
    print("%d runs, %d failed; slowest: %s; largest: %s" %
          (count, failed, ", ".join("%s %s %.1f s" % (n, c, s) for s, c, n in slowest[:5]),
           ", ".join("%s %s %d MiB" % (n, c, m) for m, c, n in largest[:5])))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
