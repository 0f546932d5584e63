"""Runs the program of crank_rocker.py through libraries that jointplay does without, and prints a table.

They get the recorded instructions, one by one, as Python source.  Each must give jointplay's numbers (without
fused multiply-add) before it is timed; one that is not installed is skipped.  Each is measured in processes of
its own, by turns, and the least CPU time of all threads counts.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import resource
import sys
import tempfile
import time
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from crank_rocker import crank_rocker
from startup import HERE, empty_cache, output

from jointplay.engine import values
from jointplay.run import Run

STEPS, CHECKED = 100_000, 2_000  # timed (one second of motion) and compared
PROCESSES, ROUNDS = 3, 7  # of each way, and how often each takes the steps
BATCH, CHUNK = 64, 1000  # JAX: simulations side by side; CasADi: steps of one call
CLEARANCES = [3e-3, 3.5e-3, 4e-3, 4.5e-3]  # of simulations side by side, over and over
MAGIC = 1.5 * 2.0**52  # jointplay rounds by adding it, and makes floats of integers by its bits
COLUMNS = ["ns", "batch_ns", "compile_s", "batch_compile_s", "cached_s", "start_s", "megabytes", "packages"]
SPELLING = {op: op + "({0})" for op in values.OPERATIONS} | {"neg": "-{0}", "copy": "{0}", "load": "{0}[{1}]"}
SPELLING |= {kind + word: f"{{0}} {sign} {{1}}" for sign, word in values.SPELLING.items() for kind in ("", "i")}
SPELLING |= {kind + "select": "select({0}, {1}, {2})" for kind in "fim"}


class Source:
    """A program as a Python function advance(steps, state, given)."""

    # Functional: with calls of fori_loop and cond instead of `for` and `if`.  Without routines: a subroutine gives
    # not a number; the only one of this program reduces angles beyond 50,000 rad, which do not come.
    def __init__(self, program: Any, library: Any, spelling: Any, functional: Any = True, routines: Any = True) -> None:
        self.functional, self.routines, self.library = functional, routines, dict(library)
        self.spelling, self.names, self.fresh = SPELLING | spelling, dict[int, str](), 0
        self.lines, self.margin = ["def advance(steps, state, given):"], "    "
        for where, slots in (("given", program.parameters), ("state", program.slots)):
            inputs = [program.inputs.get(("state" if where == "state" else "parameter", s.name)) for s in slots]
            self.names |= {v.serial: f"{where}[{i}]" for i, v in enumerate(inputs) if v is not None}
        self.write(program.hoisted)
        self.say("def step(_, state):" if functional else "for _ in range(steps):", "        ")
        ends = self.write(program.body)
        self.say(f"return [{ends}]" if functional else f"state = ({ends})", "    ")
        self.say("return fori_loop(0, steps, step, state)" if functional else "return state")
        exec("\n".join(self.lines), self.library | {"inf": np.inf, "nan": np.nan}, found := dict[str, Any]())
        self.advance = found["advance"]

    def say(self, text: str, margin: str = "") -> None:
        """Write a line; the next ones may have another margin."""
        self.lines.append(self.margin + text)
        self.margin = margin or self.margin

    def ref(self, x: Any) -> str:
        """An operand: a variable, a constant or a table."""
        if hasattr(x, "data"):
            self.library[f"table{id(x)}"] = np.array(x.data, np.int64)
            return f"table{id(x)}"
        return self.names[x.serial] if isinstance(x, values.Value) else f"({x!r})"

    def write(self, block: Any) -> str:
        """The instructions of a block; gives its ends.  Loops and stores are not known: there are none here."""
        for item in block.code:
            self.fresh += 1
            if isinstance(item, values.Value):
                self.say(f"v{self.fresh} = {self.spelling[item.op].format(*map(self.ref, item.args))}")
                self.names[item.serial] = f"v{self.fresh}"
            else:
                outs = {v.serial: f"v{self.fresh}_{i}" for i, v in enumerate(item.outs)}
                {"branch": self.branch, "call": self.call}[item.word](item, f"{', '.join(outs.values())}, = ")
                self.names |= outs
        return "".join(f"{self.ref(x)}, " for x in block.ends)

    def branch(self, made: Any, outs: str) -> None:
        """Two sides."""
        mask, outer, then, other = self.ref(made.reads[0]), self.margin, f"then{self.fresh}", f"other{self.fresh}"
        heads = (f"def {then}():", f"def {other}():") if self.functional else (f"if {mask}:", "else:")
        for head, block in zip(heads, made.blocks, strict=True):
            self.say(head, outer + "    ")
            ends = self.write(block)
            self.say(f"return [{ends}]" if self.functional else outs + ends, outer)
        if self.functional:
            self.say(f"{outs}cond({mask}, {then}, {other})")

    def call(self, made: Any, outs: str) -> None:
        """A subroutine, in place."""
        if not self.routines:
            return self.say(outs + "nan, " * len(made.outs))
        self.names |= {v.serial: self.ref(x) for v, x in zip(made.about.formals, made.reads, strict=False)}
        self.write(made.about)
        self.say(outs + "".join(f"{self.ref(x)}, " for x in made.about.ends if isinstance(x, values.Value)))


# Each way gives {simulations side by side: how to build an advance(steps)}, a new process's code, and packages.
def jointplay(folder: str) -> Any:
    """One lane and four; compiling includes tracing, and the new process runs the whole program."""

    def build(lanes: int) -> Any:
        run = Run(crank_rocker(), eager=False, lanes=lanes)
        begin = [functools.partial(run.start, i, {"J2.clearance": CLEARANCES[i]}) for i in range(lanes)]
        return lambda steps: ([b() for b in begin], run.advance(steps), [run[s.name] for s in run.program.slots])[2]

    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); from crank_rocker import crank_rocker; "
    code += "from jointplay.run import Run; Run(crank_rocker(), eager=False).advance(1)"
    return {1: lambda: build(1), 4: lambda: build(4)}, code, "llvmlite"


def numba(folder: str) -> Any:
    """One loop over the steps, with if and else; the new process has a trivial function in its cache."""
    from numba import njit

    program, library = crank_rocker(), {"np": np, "sqrt": np.sqrt, "floor": np.floor}
    data = [tuple(s.start for s in xs) for xs in (program.slots, program.parameters)]
    spelling = {kind + "select": "{1} if {0} else {2}" for kind in "fim"}
    spelling |= {"bits": "np.float64({0}).view(np.int64)", "from_bits": "np.int64({0}).view(np.float64)"}
    spelling |= {"ishr": "np.int64(np.uint64({0}) >> np.uint64({1}))"}

    def build() -> Any:
        source = Source(program, library, spelling, functional=False).advance
        function = njit(source, fastmath=False, error_model="numpy")
        function(0, *data)
        return lambda steps: function(steps, *data)

    Path(folder, "trivial.py").write_text("from numba import njit\n@njit(cache=True)\ndef f(x):\n    return x + 1.0\n")
    return {1: build}, f"import sys; sys.path.insert(0, {folder!r}); import trivial; trivial.f(1.0)", "numba llvmlite"


def jax(folder: str, routines: bool = True) -> Any:
    """A fori_loop over the steps, with cond; simulations side by side by vmap, which takes both sides."""
    import jax as j

    j.config.update("jax_enable_x64", True)
    program, lax, jnp = crank_rocker(), j.lax, j.numpy
    library = {"cond": lax.cond, "fori_loop": lax.fori_loop, "select": jnp.where, "take": jnp.take}
    library |= {"sqrt": jnp.sqrt, "floor": jnp.floor}
    library |= {"bits": lambda x: lax.bitcast_convert_type(x, "int64"), "shift": lax.shift_right_logical}
    library |= {"from_bits": lambda x: lax.bitcast_convert_type(x, "float64")}
    spelling = {"load": "take({0}, {1})", "ishr": "shift({0}, {1})", "add": "add({0}, {1})"}

    def add(a: Any, b: Any) -> Any:  # XLA takes (x + MAGIC) - MAGIC for x, unless something stands between
        return lax.reduce_precision(a + b, 11, 52) if isinstance(b, float) and b == MAGIC else a + b

    def build(lanes: int) -> Any:
        advance = Source(program, library | {"add": add}, spelling, routines=routines).advance
        data = [[values.DTYPES[s.kind](s.start) for s in xs] for xs in (program.slots, program.parameters)]
        if lanes > 1:
            data, advance = [[np.full(lanes, x) for x in xs] for xs in data], j.vmap(advance, (None, 0, 0))
            data[1][list(program.given).index("J2.clearance")] = np.resize(CLEARANCES, lanes)
        compiled = j.jit(advance).lower(0, *data).compile()
        return lambda steps: j.block_until_ready(compiled(steps, *data))

    code = "import jax; jax.jit(lambda x: x + 1.0)(1.0).block_until_ready()"
    return {1: lambda: build(1), BATCH: lambda: build(BATCH)}, code, "jax jaxlib ml_dtypes opt_einsum scipy"


def casadi(folder: str, **options: Any) -> Any:
    """An SX function folded over the steps, with if_else, in CasADi's virtual machine or as C; all are floats."""
    import casadi as ca

    ca.GlobalOptions.setSimplificationOnTheFly(False)  # it takes (x + MAGIC) - MAGIC for x
    program, high = crank_rocker(), np.float64(MAGIC).view(np.int64)  # these bits are left out of integers
    spelling = {"and": "logic_and({0}, {1})", "or": "logic_or({0}, {1})", "abs": "fabs({0})"}
    spelling |= {"bits": f"{{0}} - {MAGIC}", "from_bits": f"{{0}} + {MAGIC}", "iadd": f"{{0}} + {{1}} % {high}"}
    spelling |= {"iand": "{1} * (floor({0} / {1}) - 2 * floor({0} / (2 * {1})))"}  # a mask of one bit
    library = vars(ca) | {"select": ca.if_else, "fori_loop": lambda _, n, step, state: step(0, state)}
    library["cond"] = lambda mask, a, b: [ca.if_else(mask, x, y) for x, y in zip(a(), b(), strict=True)]

    def build() -> Any:
        start, given = (ca.DM([s.start for s in xs]) for xs in (program.slots, program.parameters))
        x, p = ca.SX.sym("x", start.numel()), ca.SX.sym("p", given.numel())
        new = Source(program, library, spelling, routines=False).advance(1, ca.vertsplit(x), ca.vertsplit(p))
        with contextlib.chdir(folder):  # for the C file
            steps = ca.Function("f", [x, p], [ca.vertcat(*new)]).fold(CHUNK, options)
        given = ca.repmat(given, 1, CHUNK)
        return lambda n: functools.reduce(lambda x, _: steps(x, given), range(n // CHUNK), start).full()

    return {1: build}, "import casadi as c; x = c.SX.sym('x'); c.Function('f', [x], [x + 1])(1.0)", "casadi"


GCC = {"jit": True, "compiler": "shell", "jit_cleanup": False}
GCC |= {"jit_options": {"flags": ["-O3", "-march=native"], "cleanup": False}}
WAYS = {"jointplay": jointplay, "numba": numba, "jax": jax, "jax-small": functools.partial(jax, routines=False)}
WAYS |= {"casadi": casadi, "casadi-gcc": functools.partial(casadi, **GCC)}


def spent(work: Any, *args: Any) -> tuple[float, Any]:
    """CPU seconds of all threads and children, and the result."""
    begin = time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    result = work(*args)
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - begin, result


def measure(way: str) -> dict[str, Any]:
    """The numbers of one way, built and run in this process."""
    row: dict[str, Any] = {"way": way}
    with empty_cache(), tempfile.TemporaryDirectory() as folder:
        builds, code, packages = WAYS[way](folder)
        for lanes, build in builds.items():
            batch = "batch_" if lanes > 1 else ""
            row[batch + "compile_s"], advance = spent(build)
            right = Run(crank_rocker(), {"J2.clearance": CLEARANCES}, eager=False, fma=False, lanes=len(CLEARANCES))
            right.advance(CHECKED)
            expected = [np.resize(right[s.name], lanes) for s in right.program.slots]
            np.testing.assert_allclose([np.ravel(x) for x in advance(CHECKED)], expected, rtol=0, atol=1e-9)
            row[batch + "ns"] = min(spent(advance, STEPS)[0] for _ in range(ROUNDS)) * 1e9 / STEPS / lanes
        row |= {"cached_s": spent(builds[1])[0]} if way == "jointplay" else {}
        command = [sys.executable, "-c", f"{code}; import time; print(time.process_time())"]
        row["start_s"] = min([float(output(command)) for _ in range(4)][1:])  # the first one may fill caches
    found = [distribution(p) for p in packages.split()]
    size = sum(f.locate().stat().st_size for d in found for f in d.files or [] if f.locate().exists())
    return row | {"megabytes": round(size / 1e6), "packages": ", ".join(f"{d.name} {d.version}" for d in found)}


def main() -> None:
    """Measure the chosen ways and print the table; several run by turns, each in new processes."""
    parser = argparse.ArgumentParser(description="Measure what jointplay does without.")
    parser.add_argument("--only", nargs="+", choices=WAYS, default=[*WAYS], metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    asked = parser.parse_args()
    rows: dict[str, Any] = {}
    if len(asked.only) == 1:
        try:
            rows = {"": measure(*asked.only)}
        except (ImportError, RuntimeError) as error:  # CasADi without gcc: RuntimeError
            print(f"{asked.only[0]} is skipped: {error}", file=sys.stderr)
    for way in asked.only * PROCESSES if len(asked.only) > 1 else []:
        for row in json.loads(output([sys.executable, __file__, "--json", "--only", way])):
            rows[way] = {key: min(x, rows.get(way, row)[key]) for key, x in row.items()}
    if asked.json:
        return print(json.dumps([*rows.values()], indent=2))
    print(f"| way | {' | '.join(COLUMNS)} |\n|" + "---|" * (len(COLUMNS) + 1))
    for r in rows.values():
        cells = [f"{r[k]:.3g}" if isinstance(r.get(k), float) else str(r.get(k, "-")) for k in COLUMNS]
        print(f"| {r['way']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
