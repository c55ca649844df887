#!/usr/bin/env python3
"""Shows when the CPUs of this machine were away while something was measured.

Usage: watch_cpus.py [SECONDS]

A sleeper on each CPU, which the scheduler prefers to everything that has no real-time priority, asks to be woken every
two milliseconds. Prints a line for each second: the time in seconds since 1970, and how many microseconds late the
latest wake-up of each CPU was. Nothing that a database does in user space delays them, so a long operation in a second
in which all CPUs were late waited for the machine. Ends after SECONDS, else with Ctrl-C. Needs the right to run in real
time (root, or a limit of RLIMIT_RTPRIO)."""

import os
import sys
import time

STEP = 0.002


def sleep_on(cpu, seconds, lines):
    """Writes the latest wake-up of each second. Runs in a process of its own, which ends with its reader."""
    os.sched_setaffinity(0, [cpu])
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    due = time.monotonic()
    for _ in range(seconds):
        end, latest = due + 1, 0.0
        while due < end:
            time.sleep(max(0.0, due - time.monotonic()))
            late = time.monotonic() - due
            latest = max(latest, late)
            due += STEP * (1 + int(late / STEP))
        lines.write(f"{latest * 1e6:.0f}\n")
        lines.flush()


def start(cpu, seconds):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        try:
            with os.fdopen(writing, "w") as lines:
                sleep_on(cpu, seconds, lines)
        except PermissionError as error:
            sys.stderr.write(f"watch_cpus.py: CPU {cpu}: {error}: needs root, or a limit of RLIMIT_RTPRIO (ulimit -r)\n")
        except (BrokenPipeError, KeyboardInterrupt):
            pass
        os._exit(0)
    os.close(writing)
    return os.fdopen(reading)


def main():
    if len(sys.argv) > 2 or len(sys.argv) == 2 and not (sys.argv[1].isdigit() and int(sys.argv[1]) > 0):
        sys.exit(__doc__)
    seconds = int(sys.argv[1]) if len(sys.argv) == 2 else sys.maxsize
    cpus = sorted(os.sched_getaffinity(0))
    sleepers = [start(cpu, seconds) for cpu in cpus]
    print("time," + ",".join(f"cpu{cpu}_late_us" for cpu in cpus), flush=True)
    watched = 0
    try:
        while watched < seconds:
            late = [sleeper.readline().strip() for sleeper in sleepers]
            if "" in late:
                sys.exit(1)
            print(f"{time.time():.3f}," + ",".join(late), flush=True)
            watched += 1
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
