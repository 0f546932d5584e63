"""What README and docs show must run and be true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{i}")
    for path in DOCUMENTS
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_python_block_runs(block, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(block, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_every_named_file_exists():
    missing = []
    for path in DOCUMENTS:
        names = re.findall(
            r"`((?:src|tests|examples|benchmarks|validation|docs|engine|numerics)/[\w/]*\.(?:py|md|cpp))`",
            path.read_text(encoding="utf-8"),
        )
        roots = (ROOT, ROOT / "src" / "jointplay")
        missing += [(path.name, n) for n in names if not any((root / n).exists() for root in roots)]
    assert missing == []


def test_the_demo_runs_and_draws(tmp_path):
    (tmp_path / "build").mkdir()
    demo = ROOT / "examples" / "01_bouncing_journal.py"
    assert len(demo.read_text(encoding="utf-8").splitlines()) < 40
    done = subprocess.run([sys.executable, demo], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "impacts" in done.stdout and (tmp_path / "build" / "bouncing_journal.png").stat().st_size > 10_000
