# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads hosts.cfg and runs.tsv.

declare -A ROW

row_names()
{
	sed -n 's/^\[\(.*\)\]$/\1/p' hosts/hosts.cfg
}

load_row()
{
	local line here='' key

	ROW=()
	while IFS= read -r line; do
		case $line in
		'#'* | '') ;;
		'['*) here=$line ;;
		*)
			[[ $here == "[$1]" ]] || continue
			key=${line%%=*}
			ROW[${key%%[[:space:]]*}]=${line#*= }
			;;
		esac
	done <hosts/hosts.cfg
	[[ ${ROW[emulator]-} ]] ||
		die "no host '$1' in hosts/hosts.cfg; there are: $(row_names | xargs)"
}

# What a run of the row must come to: NAME, or NAME=OUTCOME in the table.
expected_outcome()
{
	local run

	for run in ${ROW[runs]}; do
		[[ ${run%%=*} == "$1" && $run == *=* ]] || continue
		echo "${run#*=}"
		return
	done
	echo pass
}

# NAME seconds|command|needs: a field of runs.tsv.
run_field()
{
	awk -F'\t' -v name="$1" -v field="$2" '
		BEGIN { column["seconds"] = 2; column["command"] = 3; column["needs"] = 4 }
		$1 == name { print $column[field]; found = 1 }
		END { exit !found }' hosts/runs.tsv ||
		die "no run '$1' in hosts/runs.tsv"
}
