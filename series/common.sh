# SPDX-License-Identifier: GPL-2.0-only
# What the scripts of this folder share: where things are, how they speak.
# shellcheck shell=bash disable=SC2034
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$TOP/build
SERIES=$TOP/series
LINUX=$BUILD/linux
BRANCH=kvm-stats
KERNEL_ROOMS=(include virt arch Documentation tools)
# shellcheck source=BASE
. "$SERIES/BASE"

# The same bytes for everyone: no personal git settings, language or time zone.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 LC_ALL=C TZ=UTC
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
# The kernel's own makes must not take the flags of the make that calls us.
unset MAKEFLAGS MFLAGS MAKELEVEL

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# TAP lines; finish says by its status whether all was well.
failures=0
ok() { printf 'ok - %s\n' "$*"; }
not_ok() { failures=$((failures + 1)); printf 'not ok - %s\n' "$*"; }
finish() { [ "$failures" -eq 0 ]; }

need_base() {
	[ -d "$LINUX/.git" ] || die "build/linux is not there: run 'make tree'"
}

need_tree() {
	need_base
	lgit rev-parse -q --verify "$BRANCH" >/dev/null ||
		die "build/linux has no branch $BRANCH: run 'make tree'"
}

lgit() { git -C "$LINUX" "$@"; }

patches() { find "$SERIES" -name '[0-9][0-9][0-9][0-9]-*.patch' | sort; }

# The lines of one kind (Adds, Spatch) between a patch's "---" and its hunks.
control() {
	awk -v key="$1:" '
		/^diff --git / { exit }
		/^---$/ { on = 1; next }
		on && $1 == key { for (i = 2; i <= NF; i++) print $i }' "$2"
}
hunks() { sed -n '/^diff --git /,$p' "$1"; }
