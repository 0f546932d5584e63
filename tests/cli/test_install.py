"""`doctor` and `completion`."""

import argparse
import shutil
import subprocess

import pytest

from jointplay import cache
from jointplay.cli import _parser, doctor, main
from jointplay.cli.completion import commands


def test_doctor_checks_numbers_against_closed_forms(capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "bit by bit" in said and said.count("closed form") == 2 and "WRONG" not in said
    assert str(cache.directory()) in said


def test_doctor_tells_what_is_missing_and_what_is_wrong(capsys, monkeypatch):
    version = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: "" if name in ("zarr", "scipy") else version(name))
    monkeypatch.setattr(doctor, "_impact", lambda: ("approach speed", "m/s", 0.15, 0.14, 0.0))
    monkeypatch.setattr(doctor, "_pendulum", lambda: ("rate", "rad/s", 1.0, 1.0, 0.0))
    monkeypatch.setattr(doctor.platform, "machine", lambda: "aarch64")
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert 'pip install "jointplay[sweep]"' in said and "missing, though jointplay needs it: pip install scipy" in said
    assert "WRONG: approach speed 0.15" in said and "aarch64 (not tested by us" in said


def test_completion_knows_every_command_and_option():
    known = {one.name: one for one in commands(_parser())}
    [sub] = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    assert known.keys() == sub.choices.keys()
    assert "--until" in known["run"].options and known["run"].choices["--order"] == ["1", "2"]
    assert "slider_crank" in known["check"].words and "wu2017" in known["reproduce"].words


def completed(capsys, *words):
    """What bash offers after these words."""
    assert main(["completion", "bash"]) == 0
    text = capsys.readouterr().out
    given = " ".join(f"'{word}'" for word in ("jointplay", *words))
    script = f'{text}\nCOMP_WORDS=({given}); COMP_CWORD={len(words)}; _jointplay; echo "${{COMPREPLY[*]}}"'
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "press.yaml").touch()
    assert completed(capsys, "doc") == ["doctor"]
    assert completed(capsys, "run", "--ord") == ["--order"]
    assert completed(capsys, "run", "--order", "") == ["1", "2"]
    assert completed(capsys, "--debug", "run", "pre") == ["press.yaml"]
    assert completed(capsys, "completion", "z") == ["zsh"]


@pytest.mark.parametrize(("shell", "words"), [("zsh", "#compdef jointplay"), ("fish", "-l order -d")])
def test_other_shells_take_it(shell, words, capsys):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert words in text
    if found := shutil.which(shell):
        subprocess.run([found, "-n"], input=text, text=True, check=True)
