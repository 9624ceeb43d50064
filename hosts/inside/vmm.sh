# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A real VMM on a guest of our own, and QMP to it. Sourced by what runs inside
# a host.

REPLY_SECONDS=30

give_up()
{
	echo "Bail out! $*" >&2
	exit 1
}

# Without -no-reboot a guest that crashes starts anew and nobody knows.
vmm_start()
{
	coproc VMM {
		exec qemu-system-x86_64 -accel kvm -M microvm -smp 2 -m 64 \
			-bios build/hosts/bin/x86/guest.bin -nodefaults -no-reboot \
			-display none -qmp stdio
	}
	# Command substitutions do not inherit the descriptors of a coprocess.
	exec {vmm_in}>&"${VMM[1]}" {vmm_out}<&"${VMM[0]}"
	qmp qmp_capabilities >/dev/null
}

vmm_stop()
{
	qmp quit >/dev/null
	wait "$VMM_PID"
}

# COMMAND [ARGUMENTS]: prints what is returned. Greeting and events are dropped.
qmp()
{
	local line

	printf '{"execute":"%s","arguments":%s}\n' "$1" "${2-{\}}" >&"$vmm_in"
	while read -r -t "$REPLY_SECONDS" -u "$vmm_out" line; do
		case $line in
		'{"return": '*)
			line=${line#'{"return": '}
			echo "${line%\}*}"
			return
			;;
		'{"QMP"'* | '{"timestamp"'*) ;;
		*) give_up "QEMU says: $line" ;;
		esac
	done
	give_up "QEMU does not answer $1"
}

query_stats()
{
	qmp query-stats "{\"target\":\"$1\"}"
}

failures=0

# NAME EXPECTED GOT: a test, with the first difference where there is one. That
# nothing is expected and nothing came would be a mistake of the test.
same()
{
	if [[ $2 && $2 == "$3" ]]; then
		echo "ok - $1"
	else
		echo "not ok - $1: $(diff <(echo "$2") <(echo "$3") | tail -n +2 | head -n 4 | tr "\n" " ")"
		failures=$((failures + 1))
	fi
}

tests_done()
{
	exit $((failures > 0))
}
