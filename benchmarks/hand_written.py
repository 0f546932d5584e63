"""Programs of this folder that are written in C and C++, compiled when they are needed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from startup import output

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
EXPECTED_ERROR = {"pd": 4.026, "feedback": 0.2221}  # degrees: any other number means that it is not the same step


def compiled(source: str, *options: str, suffix: str = "") -> Path | None:
    """A program of this folder, compiled anew with all that the machine has; None where there is no compiler."""
    compiler = "g++" if source.endswith("cpp") else "gcc"
    if shutil.which(compiler) is None:
        return None
    BUILD.mkdir(exist_ok=True)
    program = BUILD / (Path(source).stem + suffix)
    output([compiler, "-O3", "-march=native", "-ffast-math", *options, "-o", str(program), str(HERE / source), "-lm"])
    return program


def hand_written_ns(program: Path, law: str) -> float:
    """Nanoseconds of a hand-written step of the crank-rocker whose motor obeys the law."""
    report = json.loads(output([str(program), law, "2"]))
    check(f"the hand-written step with {law}", report["max_error_deg"], law)
    return report["ns"]


def check(what: str, error: float, law: str = "pd") -> None:
    """Stop if something fast is wrong."""
    if abs(error - EXPECTED_ERROR[law]) > 1e-3:
        raise SystemExit(f"{what}: largest tracking error {error:.5f} degrees, expected {EXPECTED_ERROR[law]}")
