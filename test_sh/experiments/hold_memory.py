#!/usr/bin/env python3
"""Keeps free memory from going back to the host of a virtual machine while something is measured.

Usage: hold_memory.py BYTES

A host that lends memory takes back what its guest leaves free, in pieces of 2 MiB; the first touch of a page then costs
more than a put, and the engine that writes fastest pays most. So BYTES are touched and given back but for a page of each
2 MiB: what is free lies between these pages then, and stays. Prints a line when that is done, and holds them until its
standard input ends."""

import mmap
import sys

PIECE = 2 << 20
CHUNK = 64 << 20


def hold(size):
    size = (size + PIECE - 1) // PIECE * PIECE
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    zeros = bytes(CHUNK)
    for begin in range(0, size, CHUNK):
        memory[begin:begin + CHUNK] = zeros[:min(CHUNK, size - begin)]
    for begin in range(0, size, PIECE):
        memory.madvise(mmap.MADV_DONTNEED, begin + mmap.PAGESIZE, PIECE - mmap.PAGESIZE)
    return memory


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit() or int(sys.argv[1]) == 0:
        sys.exit(__doc__)
    memory = hold(int(sys.argv[1]))
    print(f"{len(memory)} bytes touched", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
