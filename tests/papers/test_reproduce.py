"""The command reproduce: rows as they come, kept between runs, chosen by table, figure and case."""

import functools
import json
import re
import sys
import types

import pytest

import jointplay as jp
from jointplay import papers
from jointplay.cli import main
from jointplay.cli.reproduce import Counter
from jointplay.papers import Study, working
from jointplay.papers.rows import Row

KEYS = ["study", "item", "case", "quantity", "unit", "paper", "reference", "computed", "verdict", "note"]


class Toy:
    """A study of five rows that counts what it computes."""

    def __init__(self) -> None:
        self.computed: list[float] = []
        self.stop_at = 0.0
        self.paper = 1.0

    def rows(self):
        for i in range(1, 6):
            case = {"controller": f"tau{i}", "friction": 0.1}
            compute, printed = functools.partial(self.at, i), self.paper * i
            yield Row(f"table {1 + i // 3}", case, "x", "m", compute, printed, within=1e-9, study="toy", long=i == 5)

    def at(self, i):
        if i == self.stop_at:
            raise KeyboardInterrupt
        self.computed.append(i)
        return float(i)


@pytest.fixture
def toy(monkeypatch, tmp_path):
    made = Toy()
    module = types.ModuleType("jointplay.papers.toy")
    module.rows = made.rows
    monkeypatch.setitem(sys.modules, "jointplay.papers.toy", module)
    monkeypatch.setitem(papers.STUDIES, "toy", Study("toy"))
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path / "kept"))
    return made


def test_rows_are_printed_with_their_counts(toy, capsys):
    toy.paper = 2.0
    assert main(["reproduce", "toy"]) == 0
    told = capsys.readouterr()
    assert told.out.count("verdict    differs by") == 4 and told.out.endswith("4 rows: 4 differ\n") and told.err == ""
    assert told.out.index("table 1") < told.out.index("tau1") < told.out.index("table 2") < told.out.index("tau4")


def test_what_is_computed_survives_ctrl_c(toy, capsys):
    toy.stop_at = 1
    assert main(["reproduce", "toy"]) == 1
    assert capsys.readouterr() == ("", "jointplay: interrupted before any row was computed\n")
    toy.stop_at = 3
    assert main(["reproduce", "toy"]) == 1
    told = capsys.readouterr()
    assert told.err == (
        "jointplay: interrupted after 2 of 4 rows; those are kept, and the same command goes on from there\n"
    )
    assert told.out.count("verdict") == 2
    toy.stop_at, toy.computed = 0, []
    assert main(["reproduce", "toy"]) == 0
    assert toy.computed == [3, 4] and capsys.readouterr().out.count("verdict") == 4


def test_what_is_kept_belongs_to_its_numbers_and_to_the_code(toy, capsys, monkeypatch):
    for paper, computed in ((1.0, 4), (1.0, 0), (2.0, 4)):
        toy.paper, toy.computed = paper, []
        assert main(["reproduce", "toy"]) == 0 and len(toy.computed) == computed
    monkeypatch.setattr(working, "sources", lambda: "another code")
    toy.computed = []
    assert main(["reproduce", "toy"]) == 0 and len(toy.computed) == 4


def test_a_damaged_file_is_computed_again(toy, tmp_path):
    assert main(["reproduce", "toy"]) == 0
    for file in (tmp_path / "kept").iterdir():
        file.write_bytes(file.read_bytes()[:-3])
    toy.computed = []
    assert main(["reproduce", "toy"]) == 0 and len(toy.computed) == 4


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        (["--table", "1"], [1, 2]),
        (["--case", "tau3"], [3]),
        (["--case", "controller=tau2"], [2]),
        (["--case", "friction=0.1", "--table", "2"], [3, 4, 5]),
        (["--all"], [1, 2, 3, 4, 5]),
        (["--case", "friction=0.1", "--case", "TAU4"], [4]),
    ],
)
def test_a_choice_of_rows_is_all_that_is_computed(toy, options, chosen, capsys):
    assert main(["reproduce", "toy", *options, "--json"]) == 0
    assert toy.computed == chosen
    records = json.loads(capsys.readouterr().out)
    assert [list(record) for record in records] == [KEYS] * len(chosen)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--case", "tau9"], "--case 'tau9': no row has it; cases are such as controller tau1, friction 0.1; .*"),
        (["--table", "six"], "--table six: must be the number of a table, as in --table 6"),
        (["--figure", "1"], "--figure 1: toy has no such figure; it has none; leave --figure out"),
        (["--table", "1", "--full"], "give --table or --figure, and --full with --figure only"),
    ],
)
def test_what_is_not_there_is_refused(toy, options, said, capsys):
    assert main(["reproduce", "toy", *options]) == 2
    assert re.fullmatch(f"jointplay: {said}\n", capsys.readouterr().err) and not toy.computed


def test_the_time_left_is_told_by_rows_so_far():
    counter = Counter(shown=False)
    counter(10, 30)  # kept
    assert counter.text(0.0) == "10 of 30 rows"
    counter(15, 30)
    assert counter.text(20.0) == "15 of 30 rows, about 60 s left"
    assert counter.text(200.0) == "15 of 30 rows, about 10 min left"


def test_a_study_is_computed_in_processes_of_its_own_too():
    """In their order, whichever comes first."""
    one = list(Study("grigore").records(case=["degrees of freedom"], workers=2))
    assert [record.computed for record in one] == [3, 1, 4, 2, 3] and all(record.good for record in one)


def test_a_row_whose_run_was_interrupted_is_not_kept(tmp_path, monkeypatch):
    """A run that is not strict returns what it has when a signal comes; the peak of half a run was kept as a result."""
    monkeypatch.setenv("JOINTPLAY_CACHE_DIR", str(tmp_path))

    def interrupt(time):
        if time > 0.5:
            raise KeyboardInterrupt

    def half():
        run = jp.simulate(jp.library.pendulum(), 1.0, jp.FixedRungeKutta(1e-5), strict=False, progress=interrupt)
        return float(run.time[-1])

    row = Row("table 1", {}, "x", "m", half, 1.0, within=1e-9, study="toy")
    with pytest.raises(KeyboardInterrupt):
        working.made(row, keep=True)
    assert working.recall(row) is None
