"""``conclust completion``: scripts that complete the command line, generated from the parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from conclust.cli.choice import DEFAULT_METHOD
from conclust.cli.shell.grammar import Command, Option, commands_of, options_of

SHELLS = ("bash", "zsh", "fish")


Settings: TypeAlias = Mapping[tuple[str, ...], Sequence[str]]
"""What is offered for ``--set`` by the spellings of the method; the first one is offered for ``--method``."""


def script(shell: str, parser: argparse.ArgumentParser, settings: Settings) -> str:
    """Return the script that completes the command line of `parser`.

    Parameters
    ----------
    shell : {"bash", "zsh", "fish"}
        The shell that reads it.
    parser : ArgumentParser
        The whole grammar.
    settings : dict of tuple of str to sequence of str
        Spellings of each method, with the parameters offered for ``--set``.
    """
    write: dict[str, Callable[..., Iterable[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    commands = commands_of(parser)
    methods = [spellings[0] for spellings in settings]
    lines = [*write[shell](commands, options_of(parser), methods, settings)]
    return "\n".join(lines) + "\n"


def _flags(commands: Sequence[Command], takes: str) -> list[str]:
    """Return the flags of the options with values of a kind, in any command."""
    options = [option for one in commands for option in one.flagged if option.takes == takes]
    return list(dict.fromkeys(flag for option in options for flag in option.flags))


def _words(option: Option, methods: Sequence[str]) -> Sequence[str]:
    return methods if option.takes == "method" else option.words


# -------------------------------------------------------------------------------------------- bash

_BASH_SETTINGS = """\
# Completion of conclust for bash, written by 'conclust completion bash'.
_conclust_settings() {
    local method=%s at
    for ((at = 1; at < ${#COMP_WORDS[@]}; at++)); do
        case ${COMP_WORDS[at]} in
            %s)
                method=${COMP_WORDS[at+1]}
                if [[ $method == = ]]; then method=${COMP_WORDS[at+2]}; fi
                ;;
        esac
    done
    case $method in"""
_BASH_HEAD = """\
    esac
}
_conclust() {
    local word=${COMP_WORDS[COMP_CWORD]} command= kind= words= setting= at=$((COMP_CWORD - 1)) before name
    COMPREPLY=()
    # bash takes --option=value for three words, and --set name=value for four.
    if [[ $word == = || ${COMP_WORDS[at]} == = ]]; then
        if [[ $word == = ]]; then word=; else ((at--)); fi
        name=${COMP_WORDS[at-1]}
        if [[ $name == = ]]; then name=${COMP_WORDS[at-2]}; fi
        case $name in
            %s) setting=${COMP_WORDS[at]}= before=$name ;;
        esac
    fi
    before=${before:-${COMP_WORDS[at]}}
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [[ ${COMP_WORDS[at]} != -* ]]; then
            command=${COMP_WORDS[at]}
            break
        fi
    done
    case $command:$before in"""
_BASH_TAIL = """\
    esac
    case $kind in
        file | folder)
            compopt -o filenames 2>/dev/null
            if [[ $kind == file ]]; then at=-f; else at=-d; fi
            while IFS= read -r name; do
                COMPREPLY+=("$name")
            done < <(compgen "$at" -- "$word")
            ;;
        setting)
            _conclust_settings
            COMPREPLY=($(compgen -W "$words" -- "$setting$word"))
            COMPREPLY=("${COMPREPLY[@]#"$setting"}")
            if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
            ;;
        text) ;;
        *) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    esac
}
complete -F _conclust conclust"""


def _bash(
    commands: Sequence[Command], top: Sequence[Option], methods: Sequence[str], settings: Settings
) -> Iterable[str]:
    yield _BASH_SETTINGS % (DEFAULT_METHOD, " | ".join(_flags(commands, "method")))
    for spellings, offered in settings.items():
        yield f'        {" | ".join(spellings)}) words="{" ".join(offered)}" ;;'
    yield _BASH_HEAD % " | ".join(_flags(commands, "setting"))
    for command in commands:
        places: dict[str, list[str]] = {}
        for option in command.flagged:
            if option.takes != "nothing":
                offer = places.setdefault(_bash_offer((option,), methods), [])
                offer += [f"{command.name}:{flag}" for flag in option.flags]
        for what, flags in places.items():
            yield f"        {' | '.join(flags)}) {what} ;;"
    for name, options in (("", top), *((one.name, one.flagged) for one in commands)):
        all_flags = " ".join(flag for option in options for flag in option.flags)
        yield f'        {name}:*) if [[ $word == -* ]]; then words="{all_flags}"; else'
        if name:
            (command,) = (one for one in commands if one.name == name)
            yield f"            {_bash_offer(command.places, methods)}"
        else:
            yield f'            words="{" ".join(one.name for one in commands)}"'
        yield "            fi ;;"
    yield _BASH_TAIL


def _bash_offer(options: Sequence[Option], methods: Sequence[str]) -> str:
    """Return the completions offered for a value: a file may also be a folder."""
    kinds = {option.takes for option in options}
    if kinds & {"file", "folder"}:
        return f"kind={'file' if 'file' in kinds else 'folder'}"
    if "setting" in kinds:
        return "kind=setting"
    words = [word for option in options for word in _words(option, methods)]
    return f'words="{" ".join(words)}"' if words else "kind=text"


# --------------------------------------------------------------------------------------------- zsh


def _zsh(
    commands: Sequence[Command], top: Sequence[Option], methods: Sequence[str], settings: Settings
) -> Iterable[str]:
    yield "#compdef conclust"
    yield "# Completion of conclust for zsh, written by 'conclust completion zsh'."
    yield "_conclust_settings() {"
    yield f"    local method={DEFAULT_METHOD} at"
    yield "    local -a offered"
    yield "    for ((at = 1; at <= $#words; at++)); do"
    yield "        case $words[at] in"
    for flag in _flags(commands, "method"):
        yield f"            {flag}) method=$words[at+1] ;;"
        yield f"            {flag}=*) method=${{words[at]#*=}} ;;"
    yield "        esac"
    yield "    done"
    yield "    case $method in"
    for spellings, offered in settings.items():
        yield f"        {' | '.join(spellings)}) offered=({' '.join(map(_quoted, offered))}) ;;"
    yield "    esac"
    yield "    compadd -- ${offered:#*=}"
    yield "    compadd -S '' -- ${(M)offered:#*=}"
    yield "}"
    yield "_conclust() {"
    yield "    local context state state_descr line"
    yield "    typeset -A opt_args"
    yield "    local -a commands"
    yield "    _arguments -C \\"
    for option in top:
        yield f"        {_zsh_option(option, methods)} \\"
    yield "        '1: :->command' '*:: :->rest'"
    yield "    case $state in"
    yield "        command)"
    yield "            commands=("
    for command in commands:
        yield f"                {_quoted(f'{command.name}:{command.summary}')}"
    yield "            )"
    yield "            _describe command commands ;;"
    yield "        rest)"
    yield "            case $words[1] in"
    for command in commands:
        yield f"                {command.name}) _arguments \\"
        for option in command.flagged:
            yield f"                    {_zsh_option(option, methods)} \\"
        for option in command.places:
            yield f"                    {_quoted(f':{option.metavar}:{_zsh_values(option, methods)}')} \\"
        yield "                    ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _conclust ]]; then _conclust "$@"; else compdef _conclust conclust; fi'


def _zsh_option(option: Option, methods: Sequence[str]) -> str:
    """Return the specification of an option for zsh's ``_arguments``."""
    description = "[" + re.sub(r"([\[\]:\\])", r"\\\1", _short(option.help)) + "]"
    values = ""
    if option.takes != "nothing":
        names = option.metavar.split() if option.values > 1 else [option.metavar]
        values = "".join(f":{_zsh_text(name)}:{_zsh_values(option, methods)}" for name in names)
    before = "*" if option.again else ""
    if len(option.flags) > 1:
        before = f"({' '.join(option.flags)})"
    specs = []
    for flag in option.flags:
        glued = "" if not values else ("=" if flag.startswith("--") else "+")
        glued = "" if option.values > 1 else glued
        specs.append(_quoted(f"{before}{flag}{glued}{description}{values}"))
    return " ".join(specs)


def _zsh_values(option: Option, methods: Sequence[str]) -> str:
    if option.takes == "file":
        return "_files"
    if option.takes == "folder":
        return "_files -/"
    if option.takes == "setting":
        return "_conclust_settings"
    words = _words(option, methods)
    return f"({' '.join(words)})" if words else " "


def _zsh_text(text: str) -> str:
    return re.sub(r"([:\\])", r"\\\1", text) if not text.startswith("{") else "value"


# -------------------------------------------------------------------------------------------- fish


def _fish(
    commands: Sequence[Command], top: Sequence[Option], methods: Sequence[str], settings: Settings
) -> Iterable[str]:
    yield "# Completion of conclust for fish, written by 'conclust completion fish'."
    yield "function __conclust_settings"
    yield f"    set -l method {DEFAULT_METHOD}"
    yield "    set -l tokens (commandline -opc)"
    yield "    for at in (seq (count $tokens))"
    yield "        switch $tokens[$at]"
    for flag in _flags(commands, "method"):
        yield f"            case {flag}"
        yield "                set method $tokens[(math $at + 1)]"
        yield f"            case '{flag}=*'"
        yield "                set method (string replace -r '^[^=]*=' '' -- $tokens[$at])"
    yield "        end"
    yield "    end"
    yield '    switch "$method"'
    for spellings, offered in settings.items():
        yield f"        case {' '.join(spellings)}"
        yield f"            printf '%s\\n' {' '.join(offered)}"
    yield "    end"
    yield "end"
    yield "complete -c conclust -f"
    for option in top:
        yield f"complete -c conclust -n __fish_use_subcommand {_fish_option(option, methods)}"
    for command in commands:
        description = _quoted(command.summary)
        yield f"complete -c conclust -n __fish_use_subcommand -a {command.name} -d {description}"
    for command in commands:
        here = f"complete -c conclust -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.places:
            values = _fish_values(option, methods)
            if values:
                yield f"{here} {values}"
        for option in command.flagged:
            yield f"{here} {_fish_option(option, methods)}"


def _fish_option(option: Option, methods: Sequence[str]) -> str:
    parts = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    ]
    if option.takes != "nothing":
        parts += ["-r" if option.takes == "file" else "-x", _fish_values(option, methods)]
    return " ".join([*(part for part in parts if part), f"-d {_quoted(_short(option.help))}"])


def _fish_values(option: Option, methods: Sequence[str]) -> str:
    if option.takes == "file":
        return "-F"
    if option.takes == "folder":
        return "-a '(__fish_complete_directories)'"
    if option.takes == "setting":
        return "-a '(__conclust_settings)'"
    words = _words(option, methods)
    return f"-a {_quoted(' '.join(words))}" if words else ""


# ------------------------------------------------------------------------------------------ for all


def _short(text: str) -> str:
    """Return the part of a help text that menus show: the first clause, without the default."""
    return re.split(r"[;:(]|\. | \[", text, maxsplit=1)[0].strip()


def _quoted(text: str) -> str:
    """Return a text in single quotes, in a form that all three shells read."""
    return "'" + text.replace("'", "'\\''") + "'"
