"""Write docs/validation.md from build/validation.jsonl, the records of the validation tests.

The same records give the same text: rows are sorted, numbers are rounded, and nothing in the text
depends on when or where it was written.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from jointplay.papers.verdicts import VERDICTS

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "build" / "validation.jsonl"
REPORT = ROOT / "docs" / "validation.md"
COLUMNS = ("item", "quantity", "unit", "ours", "reference", "relative difference", "verdict")
STUDY = ("item", "case", "quantity", "unit", "paper", "reference", "computed", "verdict", "note")
HEAD = """\
# All comparisons

Written by `make validate` from the comparisons in `validation/`; do not edit by hand.
"""


def number(value: Any) -> str:
    """Six significant digits for a number; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def difference(ours: Any, reference: Any) -> str:
    """The difference relative to the reference. Rounding errors vary with the machine and are not shown."""
    if not all(isinstance(x, int | float) for x in (ours, reference)) or reference == 0:
        return ""
    relative = abs(ours - reference) / abs(reference)
    return "< 1e-12" if relative < 1e-12 else f"{relative:.1e}"


def row(record: dict[str, Any]) -> tuple[str, ...]:
    """The cells of one record, in the order of COLUMNS."""
    cells = {key: number(value) for key, value in record.items()}
    cells["relative difference"] = difference(record["ours"], record["reference"])
    return tuple(cells[column].replace("|", "\\|") for column in COLUMNS)


def shown(value: Any) -> str:
    """A value of a study on one line: ten significant digits as printed by others, rounding errors as 0."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(x)}" for key, x in value.items())
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return (
        ""
        if value is None
        else f"{0.0 if abs(value) < 1e-12 else value:.10g}"
        if isinstance(value, float)
        else str(value)
    )


def study_row(record: dict[str, Any]) -> tuple[str, ...]:
    """The cells of one record of a study, in the order of STUDY; what is computed to nine digits."""
    rounded = {**record, "computed": digits(record["computed"])}
    return tuple(shown(rounded[column]).replace("|", "\\|") for column in STUDY)


def digits(value: Any) -> Any:
    """Numbers with nine significant digits: later ones may vary with the machine."""
    if isinstance(value, list):
        return [digits(x) for x in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def lines(rows: list[tuple[str, ...]]) -> str:
    """A Markdown table, its head first."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], ("---",) * len(rows[0]), *rows[1:]))


def report(records: list[dict[str, Any]]) -> str:
    """The whole text of docs/validation.md: the comparisons sorted, then the literature studies in their order."""
    if not records:
        return f"{HEAD}\nNothing has been validated yet.\n"
    plain = [record for record in records if not record.get("study")]
    text = HEAD
    if plain:
        verdicts = Counter(record["verdict"] for record in plain)
        summary = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in sorted(verdicts))
        text += f"\nComparisons: {summary}.\n\n{lines([COLUMNS, *sorted(row(record) for record in plain)])}\n"
    for study in sorted({record["study"] for record in records if record.get("study")}):
        mine = [record for record in records if record.get("study") == study]
        kinds = Counter(record["verdict"] for record in mine)
        summary = ", ".join(f"{kinds[kind]} {said}" for kind, said in VERDICTS.items() if kinds[kind])
        text += f"\n## Study {study}\n\n{len(mine)} rows: {summary}. What it says, what holds and why: "
        text += f"[papers/{study}.md](papers/{study}.md).\n\n{lines([STUDY, *map(study_row, mine)])}\n"
    return text


def main() -> None:
    """Read the records, if there are any, and write the report."""
    lines = RECORDS.read_text(encoding="utf-8").splitlines() if RECORDS.exists() else []
    REPORT.write_text(report([json.loads(line) for line in lines]), encoding="utf-8")
    print(f"validation: {len(lines)} comparisons, written to {REPORT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
