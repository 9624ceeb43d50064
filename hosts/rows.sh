# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Reads hosts.cfg, runs.tsv, and what arches.tsv says of a row.

declare -A ROW

# Those of a command; with "all", every one.
row_names()
{
	awk -v command="$1" '
		function print_name() { if (name && (command == "all" || command == of)) print name }
		/^\[.*\]$/ { print_name(); name = substr($0, 2, length($0) - 2); of = "check" }
		$1 == "of" { of = $3 }
		END { print_name() }' hosts/hosts.cfg
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
		die "no host '$1' in hosts/hosts.cfg; there are: $(row_names all | xargs)"
	: "${ROW[arch]:=x86}"
}

# NAME compiler|statistics: a field of series/arches.tsv, nothing where there is a "-".
arch_field()
{
	awk -F'\t' -v name="$1" -v field="$2" '
		BEGIN { column["compiler"] = 3; column["statistics"] = 5 }
		$1 == name { sub(/^-$/, "", $column[field]); print $column[field]; found = 1 }
		END { exit !found }' series/arches.tsv ||
		die "no architecture '$1' in series/arches.tsv"
}

# NAME/base or NAME/series of the kernels that the rows boot and that are not the stock one
own_kernels()
{
	local row

	for row in "$@"; do
		load_row "$row"
		[[ ${ROW[kernel]-} == build/kernels/* ]] || continue
		echo "${ROW[kernel]#build/kernels/}"
	done | sort -u
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

# NAME seconds|command|needs|reader: a field of runs.tsv, for the row at hand.
run_field()
{
	local stats

	stats=$(arch_field "${ROW[arch]}" statistics)
	awk -F'\t' -v name="$1" -v field="$2" '
		BEGIN { column["seconds"] = 2; column["command"] = 3; column["needs"] = 4; column["reader"] = 5 }
		$1 == name { print $column[field]; found = 1 }
		END { exit !found }' hosts/runs.tsv |
		sed "s/@arch@/${ROW[arch]}/g; s/@endian@/${ROW[endian]-little}/g; s/@page@/${ROW[page]-4096}/g; s/@stats@/$stats/g; s/@spin@/${ROW[spin]-}/g" ||
		die "no run '$1' in hosts/runs.tsv"
}
