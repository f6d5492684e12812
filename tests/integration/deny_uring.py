#!/usr/bin/env python3
"""Runs a program to which io_uring is denied by seccomp.  usage: deny_uring.py ERRNO PROGRAM [ARGUMENT..]

io_uring_setup, _enter and _register give ERRNO (1: EPERM, as containers do; 38: ENOSYS, as old kernels do).
"""
import ctypes, os, struct, sys

NO_NEW_PRIVS, SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN, ALLOW, ERRNO = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def deny(number):
    """From here on, in this process and those that it becomes or makes. The three calls have the same numbers everywhere."""
    instructions = [(LOAD, 0, 0, 0), (EQUAL, 2, 0, 425), (EQUAL, 1, 0, 426), (EQUAL, 0, 1, 427), (RETURN, 0, 0, ERRNO | number), (RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("HBBI", *i) for i in instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SECCOMP, MODE_FILTER, ctypes.byref(Program(len(instructions), code)), 0, 0):
        sys.exit("deny_uring.py: " + os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[1].isdigit(): sys.exit(__doc__.strip())
    deny(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
