#!/bin/sh
# Prepares a Debian machine: missing Debian packages, the Python environment, the C core. Usage: setup.sh VENV
set -eu
venv=$1
say() { printf 'setup: %s\n' "$*"; }

missing=""
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
if ! command -v python3 >/dev/null 2>&1; then
    missing="$missing python3 python3-venv python3-dev"
else
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        say "Python 3.11 or newer is needed; this is $(python3 --version). Install it and run make again."
        exit 1
    }
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
    python3 -c 'import os, sysconfig; assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))' \
        2>/dev/null || missing="$missing python3-dev"
fi

command -v dieharder >/dev/null 2>&1 || missing="$missing dieharder"
command -v rngtest >/dev/null 2>&1 || missing="$missing rng-tools5"

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        say "these Debian packages (or your system's own) are missing:$missing"
        exit 1
    fi
    sudo=""
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || { say "as root, install:$missing"; exit 1; }
        sudo=sudo
    fi
    if [ -t 0 ]; then
        printf 'setup: install these Debian packages:%s? [Y/n] ' "$missing"
        read -r answer
        case "$answer" in [Nn]*) say "stopped; install them and run make again"; exit 1 ;; esac
    fi
    say "installing Debian packages:$missing"
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of words on purpose
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

if [ ! -x "$venv/bin/python" ]; then
    say "creating the Python environment in $venv"
    python3 -m venv "$venv"
fi
say "installing the packages and building the C core (about a minute the first time)"
"$venv/bin/python" -m pip install -q --no-input --disable-pip-version-check -e '.[test,report]'
say "ready: $venv/bin/cabinet"
