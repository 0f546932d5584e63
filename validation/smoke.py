"""Every command once, on an installed jointplay: PYTHON smoke.py [--bare], in an empty directory outside the checkout.

--bare: an installation without extras, which must say what is missing and how to get it.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

SERIES = "time,x\n" + "\n".join(f"{k / 50},{(k % 50) / 50 * (1 - (k % 50) / 50)}" for k in range(2000)) + "\n"
STUDY = ["sweep", "press.yaml", "--over", "motor.speed=30,60 rpm", "--until", "0.2", "--metric", "peak_force[J2]"]
# Arguments, and something that is printed; the order matters, as later commands use files of earlier ones.
COMMANDS = [
    (["--version"], "jointplay"),
    (["doctor"], "closed form"),
    (["new", "press"], "press.yaml"),
    (["check", "press.yaml"], "degrees of freedom"),
    (["schema"], "properties"),
    (["library"], "slider_crank"),
    (["run", "press.yaml", "--until", "0.5", "-o", "press.nc"], "press.nc"),
    (["run", "press.yaml", "--until", "0.5", "-o", "press.csv"], "press.csv"),
    (["report", "press.nc"], "press.html"),
    (["signals", "press.nc"], "kinetic"),
    (["compare", "press.nc", "press.nc"], "together"),
    (["equilibria", "pendulum"], "stable"),
    (["cache"], "directory"),
    (["completion", "bash"], "complete"),
    (["completion", "zsh"], "compdef"),
    (["completion", "fish"], "complete -c jointplay"),
    (["analyse", "series.csv", "--period", "1", "--json"], "verdict"),
    (["reproduce", "coelho", "--case", "I1"], "agrees"),
]
FULL = [
    (["run", "press.yaml", "--until", "0.5", "--plot", "press.png", "-o", "press.parquet"], "press.png"),
    (["plot", "press.nc", "-o", "motion.png"], "motion.png"),
    (["balance", "press.yaml", "--objective", "force", "--adjust", "crank", "-o", "b.yaml"], "conditions"),
    ([*STUDY, "-o", "study.zarr"], "2"),
    (["sweep", "status", "study.zarr"], "2"),
    (["report", "study.zarr", "-o", "study.html"], "study.html"),
]
MISSING = [
    (["run", "press.yaml", "--until", "0.1", "--plot", "press.png"], 'pip install "jointplay[plot]"'),
    (["balance", "press.yaml", "--objective", "force", "--adjust", "crank", "--plot", "b.png"], "jointplay[plot]"),
    (["run", "press.yaml", "--until", "0.1", "-o", "press.parquet"], 'pip install "jointplay[parquet]"'),
    ([*STUDY, "-o", "study.zarr"], 'pip install "jointplay[sweep]"'),
]
BARE = [(["balance", "press.yaml", "--objective", "force", "--adjust", "crank"], 'pip install "jointplay[plot]"')]


def told(command: list[str]) -> tuple[int, str]:
    """Exit code and all that is printed by one command."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "jointplay", *command], capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    """Run them all; gives how many went wrong."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--bare", action="store_true")
    bare = asked.parse_args().bare
    Path("series.csv").write_text(SERIES)
    wrong = 0
    for command, text in [*COMMANDS, *([*BARE, *MISSING] if bare else FULL)]:
        refused = bare and (command, text) in MISSING
        code, said = told(command)
        good = code == (2 if refused else 0) and text in said and "Traceback" not in said
        wrong += not good
        print("ok   " if good else f"WRONG (exit code {code})", " ".join(command), flush=True)
        if not good:
            print(said[-2000:])
    code, said = told(["completion", "bash"])
    names = said.split("--version --debug", 1)[1].split('words="', 1)[1].split('"', 1)[0].split()
    tried = {command[0] for command, _ in [*COMMANDS, *FULL]}
    untried = [name for name in names if name not in tried]
    print(json.dumps({"python": sys.version.split()[0], "commands": len(names), "wrong": wrong, "untried": untried}))
    return wrong + len(untried)


if __name__ == "__main__":
    sys.exit(main())
