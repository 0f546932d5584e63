"""Write docs/validation.md from build/validation.jsonl, the records of the validation tests.

The same records give the same text: rows are sorted, numbers are rounded, and nothing in the text
depends on when or where it was written.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "build" / "validation.jsonl"
REPORT = ROOT / "docs" / "validation.md"
COLUMNS = ("item", "quantity", "unit", "ours", "reference", "relative difference", "verdict")
HEAD = """\
# What is validated

Written by `make validate` from the comparisons in `validation/`; do not edit by hand.
"""


def number(value: Any) -> str:
    """Six significant digits for a number; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def difference(ours: Any, reference: Any) -> str:
    """The difference relative to the reference. Rounding errors vary with the machine and are not shown."""
    if isinstance(ours, str) or isinstance(reference, str) or reference == 0:
        return ""
    relative = abs(ours - reference) / abs(reference)
    return "< 1e-12" if relative < 1e-12 else f"{relative:.1e}"


def row(record: dict[str, Any]) -> tuple[str, ...]:
    """The cells of one record, in the order of COLUMNS."""
    cells = {key: number(value) for key, value in record.items()}
    cells["relative difference"] = difference(record["ours"], record["reference"])
    return tuple(cells[column].replace("|", "\\|") for column in COLUMNS)


def report(records: list[dict[str, Any]]) -> str:
    """The whole text of docs/validation.md."""
    if not records:
        return f"{HEAD}\nNothing has been validated yet.\n"
    verdicts = Counter(record["verdict"] for record in records)
    summary = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in sorted(verdicts))
    rows = [COLUMNS, ("---",) * len(COLUMNS), *sorted(row(record) for record in records)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    return f"{HEAD}\nComparisons: {summary}.\n\n{table}\n"


def main() -> None:
    """Read the records, if there are any, and write the report."""
    lines = RECORDS.read_text(encoding="utf-8").splitlines() if RECORDS.exists() else []
    REPORT.write_text(report([json.loads(line) for line in lines]), encoding="utf-8")
    print(f"validation: {len(lines)} comparisons, written to {REPORT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
