"""Machine code of a program: from the cache, or from LLVM."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from .. import cache
from . import pieces
from .program import Program
from .values import LANES

_lock = threading.Lock()  # LLVM is entered by one thread at a time
if hasattr(os, "register_at_fork"):  # a process that begins as the copy of another one may find it held by nobody
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def target(opt: int = 1) -> Any:
    """The machine this process runs on, as LLVM sees it; a new one each time, for an engine takes it over."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    if features and not features.get("fma", True):
        raise RuntimeError("this processor has no fused multiply-add")
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features.flatten(), opt=opt, jit=True, codemodel="jitdefault"
    )


@functools.cache
def place() -> str:
    """Everything besides the program that machine code depends on."""
    here = Path(__file__).parent
    texts = [(here / f"{name}.py").read_bytes() for name in ("values", "lines", "machine", "pieces", "native")]
    version = hashlib.sha256(b"".join(texts)).hexdigest()  # of what turns programs into machine code
    host = [llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return " ".join([version, str(llvm.llvm_version_info), *host])


def name_of(program: Program, lanes: int, fma: bool, share: bool, quick: bool) -> str:
    """The name under which machine code is kept between processes."""
    cut = pieces.LONGEST if pieces.is_long(program) else None
    return hashlib.sha256(f"{program.digest} {lanes} {fma} {share} {quick} {cut} {place()}".encode()).hexdigest()


class Native:
    """A program as machine code for so many lanes, with the time each part took in `seconds`.

    quick: compiled in a third of the time to code that runs more slowly, with the same bits.
    """

    def __init__(
        self, program: Program, lanes: int = 1, fma: bool = True, share: bool = False, quick: bool = False
    ) -> None:
        if lanes not in LANES:
            raise ValueError(f"lanes must be one of {LANES}, got {lanes!r}")
        times, cut = [time.perf_counter()], pieces.is_long(program)
        key = name_of(program, lanes, fma, share, quick)
        with _lock:
            code = cache.read(key)
            self.cached = code is not None
            if code is None:
                text = pieces.assembly(program, lanes, fma, share)
                times.append(time.perf_counter())
                machine = target(0 if quick else 1)
                # the passes gain nothing in pieces, and could see that two of them share memory
                code = machine.emit_object(llvm.parse_assembly(text) if cut or quick else optimised(text, machine))
                cache.write(key, code)
            times.append(time.perf_counter())
            self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target())
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self.engine.finalize_object()
        size = self.engine.get_global_value_address("frame_words") if cut else 0
        self.frame = ctypes.c_int64.from_address(size).value if size else 0  # words per lane that a run must provide
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.get_function_address("run"))
        times.append(time.perf_counter())
        parts = ("cache", "load") if self.cached else ("assembly", "llvm", "load")
        self.used = 0.0  # s of steps, of all runs
        self.seconds = dict(zip(parts, map(float.__sub__, times[1:], times), strict=True))

    def __call__(self, control: Any) -> None:
        """Run until the steps are taken, a buffer is full, every lane has ended or the stop word is set."""
        self.function(control.ctypes.data)


def native(program: Program, lanes: int, fma: bool, share: bool, quick: bool) -> Native:
    """The machine code of a program, made once for all its runs."""
    key = lanes, fma, share, quick
    if key not in program.natives:
        program.natives.setdefault(key, Native(program, *key))  # of two threads that make it the first one's is kept
    found: Native = program.natives[key]
    return found


def optimised(text: str, machine: Any) -> Any:
    """An LLVM module after the passes that pay: the trace is already free of common expressions."""
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_function_pass_manager()
    for add in (passes.add_instruction_combine_pass, passes.add_simplify_cfg_pass, passes.add_loop_rotate_pass):
        add()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return module
