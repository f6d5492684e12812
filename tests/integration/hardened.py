#!/usr/bin/env python3
"""The built program has what a compiler and a linker can do against memory errors, and so does the library.

usage: hardened.py [--build DIR]     Exit 0: all is there; 1: what is missing is shown; 77: no readelf.
"""
import argparse, glob, json, os, re, shutil, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILED_WITH = ["-fstack-protector-strong", "-fstack-clash-protection", "-fcf-protection=full", "-D_FORTIFY_SOURCE=3", "-fPIC"]


def shown(*command): return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


def linked(path, is_program):
    """What is missing of an ELF file."""
    dynamic, segments, header, symbols = (shown("readelf", "-W", x, path) for x in ("-d", "-l", "-h", "--dyn-syms"))
    flags = " ".join(re.findall(r"\((?:FLAGS|FLAGS_1)\)\s+(?:Flags: )?(.*)", dynamic)).split()
    stack = re.search(r"GNU_STACK.*", segments)
    wanted = {"position-independent": "DYN" in header, "bound at start": "BIND_NOW" in flags or "NOW" in flags,
              "read-only relocations": "GNU_RELRO" in segments, "stack not executable": stack is not None and not any("E" in x for x in stack.group(0).split()[6:-1]),
              "no segment writable and executable": "RWE" not in segments, "no relocations of code": "TEXTREL" not in dynamic,
              "stack protector": "__stack_chk_fail" in symbols, "fortified calls": len(re.findall(r"__\w+_chk@", symbols)) >= 5}
    if is_program: wanted.update({"a program, so not for dlopen": "PIE" in flags})
    return ["%s: %s" % (path, what) for what, there in wanted.items() if not there]


def branch_targets(path):
    """Functions of ours begin with endbr64."""
    code = shown("objdump", "-d", "--no-show-raw-insn", "--disassemble=mr_crc32c", path)
    return [] if "endbr64" in code else [path + ": branch targets"]


def compiled(build):
    """Files of ours that were compiled without: none but yardsticks of benchmarks may."""
    out = []
    with open(os.path.join(build, "compile_commands.json")) as f: commands = json.load(f)
    for c in commands:
        words, name = c["command"].split(), os.path.relpath(c["file"], ROOT)
        if not name.startswith(("core/", "io/", "kernels/", "tools/")): continue
        out += ["%s: compiled without %s" % (name, x) for x in COMPILED_WITH if x not in words]
    return out if len(commands) > 100 else ["only %d files are compiled" % len(commands)]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    args = p.parse_args()
    if not shutil.which("readelf") or not shutil.which("objdump"):
        print("skipped: readelf and objdump are missing (apt: binutils)")
        return 77
    program = os.path.join(args.build, "millrace")
    missing = linked(program, True) + branch_targets(program) + compiled(args.build)
    libraries = [x for x in glob.glob(os.path.join(args.build, "libmillrace.so*")) if not os.path.islink(x)]
    for library in libraries: missing += linked(library, False)
    for x in missing: print("FAIL " + x)
    print("%d programs and libraries, %d missing" % (1 + len(libraries), len(missing)))
    return 1 if missing else 0


if __name__ == "__main__": sys.exit(main())
