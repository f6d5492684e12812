"""bench kernels: programs in C that measure parts of millrace by themselves."""
import os, subprocess, sys

import setting

PAGE = os.path.join(setting.ROOT, "bench", "kernels.md")
HEAD = """# Kernels: clocks per row

Made by `millrace bench kernels` on %s: 4096 rows a call, the best of 2000 rounds, variants in turn; clocks are those of the time
stamp counter. A gain is over the next lower variant that is there, as the geometric mean of the family's loops; a variant with a
gain below 1.1 is removed (kernels/README.md says which were).

"""


def run(args, name, *arguments):
    path = setting.program(args, name)
    if not path: raise setting.Failed("%s is not built: tools/build release benches" % name)
    p = subprocess.run([path, *arguments], capture_output=True, text=True)
    return p.returncode == 0, p.stdout


def bench_kernels(args):
    good, table = run(args, "bench_kernels", *([] if args.smoke else ["real"]))
    print("\nkernels: clocks per row\n" + table, end="")
    if not args.smoke:
        with open(PAGE, "w") as f: f.write(HEAD % setting.machine() + table)
        print("written to %s" % os.path.relpath(PAGE), file=sys.stderr)
    return good
