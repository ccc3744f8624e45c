"""Runs a program on a terminal of its own, as somebody would who sits there.

    terminal.py STEPS PROGRAM [ARGUMENT ...]

STEPS is a JSON list of lists: a text to wait for, what to type when it is shown and, where
something is to happen before that, the words of a program that is run first.
Everything that the program shows goes to stdout, and its exit code becomes ours.
"""

import json
import os
import pty
import select
import subprocess
import sys
import time

PATIENCE = 60


def main() -> int:
    steps = json.loads(sys.argv[1])
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.argv[2], sys.argv[2:])
    shown = b""
    seen = 0
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if steps and (at := shown.find(steps[0][0].encode(), seen)) >= 0:
            seen = at + len(steps[0][0].encode())
            awaited, typed, *program = steps.pop(0)
            if program:
                subprocess.run(program[0], check=True, stdout=subprocess.DEVNULL)
            # Whoever waits for a text reads before they type; what is typed at once may be shown, or lost.
            time.sleep(0.2 if awaited else 0)
            os.write(terminal, typed.encode())
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            more = os.read(terminal, 65536)
        except OSError:
            # How Linux says that nobody has the terminal any more.
            more = b""
        if not more:
            break
        shown += more
    sys.stdout.buffer.write(shown)
    sys.stdout.flush()
    if steps:
        sys.exit(f"never shown: {steps}")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit(main())
