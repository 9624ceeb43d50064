# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Turns what PID 1 says into TAP, and into the outcome of the row:
#
#   pass, fail, skip   the verdict of PID 1, with its reason
#   silent             not a word came
#   died               the host ended without a verdict
#   timeout            the host did not end in time
#
# A row that is expected to fail is one test; the others print every line.

failures=0

ok()
{
	echo "ok - $*"
}

not_ok()
{
	echo "not ok - $*"
	failures=$((failures + 1))
}

# What a run printed is for a reader that comes after it, outside the host.
report_reader()
{
	local row=$1 run=$2 reader=$3 line

	while IFS= read -r line; do
		report_line "$row" "$run" "$line"
	done < <($reader <"build/hosts/$row/$run.lines" 2>&1 || [[ $? == 1 ]] ||
		echo "not ok - ${reader%% *} gave up")
}

# One line that a run printed: its tests, if the row is to pass, are ours.
report_line()
{
	local row=$1 run=$2 line=$3 verdict name
	local pattern='^(not ok|ok) ?[0-9]* ?-? ?(.*)$'

	# What the kselftest harness says of every test is not worth a line.
	[[ $line != '#  RUN '* && $line != '#            OK '* ]] || return 0
	[[ $line != *'# SKIP '* ]] || skip_reason=${line#*'# SKIP '}
	if [[ ! $line =~ $pattern || ${ROW[expect]-} ||
		$(expected_outcome "$run") != pass ]]; then
		echo "# $row $run: $line"
		return
	fi
	verdict=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]}
	case $verdict in
	ok) ok "$row $run: $name" ;;
	*) not_ok "$row $run: $name" ;;
	esac
}

# The end of a run: "NAME OUTCOME [REASON]".
report_end()
{
	local row=$1 run=$2 came=$3 why=${4-} expected

	expected=$(expected_outcome "$run")
	[[ $came != skip ]] || why=$skip_reason
	if [[ $came != "$expected" ]]; then
		not_ok "$row $run: $came${why:+: $why}"
	elif [[ ! ${ROW[expect]-} ]]; then
		ok "$row $run: $came${why:+: $why}"
	fi
}

# The lines of the channel on stdin.
report()
{
	local row=$1 line run='' reader='' skip_reason='' word rest

	outcome=silent reason='not a word from PID 1'
	while IFS= read -r line; do
		line=${line%$'\r'} word=${line%% *} rest=${line#* }
		case $word in
		'') ;;
		boot)
			outcome=died reason='ended without a verdict'
			echo "# $row: kernel $rest"
			;;
		run)
			run=$rest skip_reason='no reason given'
			reader=$(run_field "$run" reader)
			[[ ! $reader ]] || : >"build/hosts/$row/$run.lines"
			;;
		'|')
			if [[ $reader && $rest != 'ok '* && $rest != 'not ok '* && $rest != *'# SKIP '* ]]; then
				echo "$rest" >>"build/hosts/$row/$run.lines"
			else
				report_line "$row" "$run" "$rest"
			fi
			;;
		end)
			if [[ $reader && $rest == *' pass' ]]; then
				report_reader "$row" "$run" "$reader"
			elif [[ $reader ]]; then
				tail -n 3 "build/hosts/$row/$run.lines" | sed "s/^/# $row $run: /"
			fi
			# shellcheck disable=SC2086 # words
			report_end "$row" ${rest%% *} \
				"$(cut -d' ' -f2 <<<"$rest")" "$(cut -d' ' -f3- <<<"$rest")"
			;;
		error) echo "# $row: $rest" ;;
		verdict) outcome=${rest%% *} reason=${rest#* } ;;
		emulator)
			if [[ $rest == 124 || $rest == 137 ]]; then
				outcome=timeout
				reason="not done after ${ROW[timeout]} s"
			elif [[ $outcome == silent || $outcome == died ]]; then
				reason+="; the emulator ended with status $rest"
			fi
			;;
		*) echo "# $row: stray output: $line" ;;
		esac
	done
}

# PID 1 cannot see what the kernel says after the verdict, nor knows what it should.
judge_log()
{
	local splat

	[[ $outcome == pass ]] || return 0
	if [[ ${ROW[log]-} ]] && ! grep -a -q -F "${ROW[log]}" "$1/console.log"; then
		outcome=fail reason="not in the kernel log: ${ROW[log]}"
		return
	fi
	splat=$(grep -a -m1 -F -f "$1/splats" "$1/console.log") || return 0
	outcome=fail reason="kernel log: $splat"
}

# The KUnit suites of the row, which the kernel has run at boot or on loading them.
report_kunit()
{
	local row=$1 suite verdict name

	for suite in ${ROW[kunit]-}; do
		while read -r verdict name; do
			case $verdict in
			ok) ok "$row kunit: $name" ;;
			*) not_ok "$row kunit: $name" ;;
			esac
		done < <(kunit_results "$suite" <"$2/console.log")
	done
}

# "ok NAME" or "failed NAME" for each test of the suite and for the suite itself.
kunit_results()
{
	tr -d '\r' | awk -v suite="$1" '
		{ sub(/^\[ *[0-9.]+\] /, "") }
		$0 == "    # Subtest: " suite { on = 1; next }
		on && match($0, /^ *(not )?ok [0-9]+ - /) {
			name = substr($0, RLENGTH + 1)
			inner = /^ /
			print (/^ *not/ ? "failed " : "ok ") suite (inner ? "." name : "")
			if (!inner) { ended = name == suite; exit }
		}
		END { if (!ended) print "failed " suite ": it has not run to its end" }'
}

judge_row()
{
	local row=$1 expect=${ROW[expect]-pass} why

	why=${expect#"${expect%% *}"}
	if [[ $outcome == "${expect%% *}" && $reason == *"${why# }"* ]]; then
		ok "$row: ${ROW[title]-no splat in the kernel log, all modules unloaded}"
	else
		not_ok "$row: $outcome: $reason (logs in build/hosts/$row)"
	fi
}
