"""``jointplay completion``: a shell's own text that completes commands, options and their choices.

It is made from the parser, so that it knows what the commands know; nothing of jointplay runs while one types.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Known:
    """What can follow the name of a command: options with their help and choices, and words in its own place."""

    name: str
    text: str
    options: dict[str, tuple[str, bool]] = field(default_factory=dict)  # help, whether a value follows
    choices: dict[str, list[str]] = field(default_factory=dict)  # of the values of options
    words: list[str] = field(default_factory=list)


def completion(arguments: argparse.Namespace) -> None:
    """Print the text for the shell that was named."""
    from . import _parser

    print(_SHELLS[arguments.shell](commands(_parser())), end="")


def commands(parser: argparse.ArgumentParser) -> list[Known]:
    """Every command of the parser with its options."""
    from jointplay.model.library import MECHANISMS
    from jointplay.papers import STUDIES

    [sub] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    places = {"model": list(MECHANISMS), "study": list(STUDIES)}
    found = []
    for pseudo in sub._choices_actions:
        made = Known(pseudo.dest, pseudo.help or "")
        for action in sub.choices[pseudo.dest]._actions:
            told = [] if action.choices is None else [str(choice) for choice in action.choices]
            if not action.option_strings:
                made.words += told or places.get(action.dest, [])
            for option in action.option_strings if action.help != argparse.SUPPRESS else ():
                made.options[option] = (" ".join((action.help or "").split()), action.nargs != 0)
                if told:
                    made.choices[option] = told
        found.append(made)
    return found


def bash(known: list[Known]) -> str:
    """For bash; files are completed beside words."""
    cases = "\n".join(
        f'        {one.name}) options="{" ".join(one.options)}"; words="{" ".join(one.words)}" ;;' for one in known
    )
    choices = "\n".join(
        f'        "{one.name} {option}") COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$current")); return ;;'
        for one in known
        for option, words in one.choices.items()
    )
    return f"""# jointplay completion bash
_jointplay() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}"
    local command="" options="" words="" i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ "${{COMP_WORDS[i]}}" != -* ]]; then command="${{COMP_WORDS[i]}}"; break; fi
    done
    case "$command" in
        "") options="--help --version --debug"; words="{" ".join(one.name for one in known)}" ;;
{cases}
    esac
    case "$command $before" in
{choices}
    esac
    if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    elif [[ -z "$command" ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _jointplay jointplay
"""


def zsh(known: list[Known]) -> str:
    """For zsh, with a line of help beside each."""

    def safe(text: str) -> str:
        return "".join("\\" + c if c in "[]:\\" else c for c in text).replace("'", "'\\''")

    def spec(one: Known, option: str) -> str:
        text, value = one.options[option]
        chosen = f"({' '.join(one.choices[option])})" if option in one.choices else "_files"
        return f"'*{option}[{safe(text)}]{':value:' + chosen if value else ''}'"

    listed = "\n".join(f"        '{one.name}:{safe(one.text)}'" for one in known)
    cases = "\n".join(
        f"        {one.name}) _arguments -S {' '.join(spec(one, option) for option in one.options)} "
        f"'*:file:{{ compadd -- {' '.join(one.words)}; _files }}' ;;"
        for one in known
    )
    return f"""#compdef jointplay
_jointplay() {{
    local -a commands
    commands=(
{listed}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
if [[ "$funcstack[1]" == _jointplay ]]; then _jointplay "$@"; else compdef _jointplay jointplay; fi
"""


def fish(known: list[Known]) -> str:
    """For fish, with a line of help beside each."""

    def safe(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["# jointplay completion fish"]
    for one in known:
        lines.append(f"complete -c jointplay -n __fish_use_subcommand -f -a {one.name} -d {safe(one.text)}")
        here = f"complete -c jointplay -n '__fish_seen_subcommand_from {one.name}'"
        if one.words:
            lines.append(f"{here} -a {safe(' '.join(one.words))}")
        for option, (text, value) in one.options.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            chosen = f" -f -a {safe(' '.join(one.choices[option]))}" if option in one.choices else ""
            lines.append(f"{here} {flag} -d {safe(text)}{' -r' if value else ''}{chosen}")
    return "\n".join(lines) + "\n"


_SHELLS: dict[str, Callable[[list[Known]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
