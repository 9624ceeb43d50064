# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Makes the initramfs of a row: PID 1, its plan, the modules, and what the runs
# name with the libraries that belong to it. Files of this project keep their
# path, programs of the machine go to /bin.

kernel_release()
{
	basename "$(echo "${ROW[kernel]}"/lib/modules/*)"
}

# Prints the files to load for the row, dependencies first.
module_files()
{
	local release module

	release=$(kernel_release)
	[[ -e ${ROW[kernel]}/lib/modules/$release/modules.dep.bin ]] ||
		depmod -b "${ROW[kernel]}" "$release"
	for module in ${ROW[load]-}; do
		modprobe -d "$PWD/${ROW[kernel]}" -S "$release" --show-depends \
			"$module" || die "${ROW[kernel]} has no module $module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# A module of ours, of the folder $2, takes the place of the kernel's own of the same
# name; they go to $3.
place_modules()
{
	local tree=$1 ours=$2 at=$3 file name

	[[ $ours == none || -e $ours/kvm.ko ]] ||
		die "no kvm.ko in $ours; 'make modules' or 'make bench' builds it"
	mkdir -p "$tree$at"
	while read -r file; do
		name=$(basename "$file" .xz)
		if [[ -e $ours/$name ]]; then
			strip -g -o "$tree$at/$name" "$ours/$name"
		elif [[ $file == *.xz ]]; then
			xz -dc "$file" >"$tree$at/$name"
		else
			cp "$file" "$tree$at/$name"
		fi
		echo "load $at/$name"
	done
}

# In the order in which nothing is unloaded that something else still needs.
unload_lines()
{
	tac | while read -r file; do
		file=$(basename "$file" .xz)
		file=${file%.ko}
		echo "unload ${file//-/_}"
	done
}

place_file()
{
	local tree=$1 file=$2 at=$3 library

	[[ ! -e $tree/$at ]] || return 0
	install -D "$file" "$tree/$at"
	ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
		[[ -e $tree$library ]] || install -D "$library" "$tree$library"
	done || true
}

# A file of this project, or a program of this machine.
place_needed()
{
	local tree=$1 word=$2 program

	if [[ -f $word ]]; then
		place_file "$tree" "$word" "$word"
	elif program=$(type -P "$word"); then
		place_file "$tree" "$program" "bin/$word"
	else
		die "$word is missing; 'make check' makes or installs it"
	fi
}

place_run()
{
	local tree=$1 run=$2 words word

	words=$(run_field "$run" command)
	words=${words//@modules@/$3}
	for word in ${words%% *} $(run_field "$run" needs); do
		place_needed "$tree" "$word"
	done
	echo "run $run $(run_field "$run" seconds) $words"
}

stage()
{
	local out=$1 tree=$1/tree files run ours folders at

	mkdir -p "$tree/bin"
	cp "build/hosts/bin/${ROW[arch]}/init" "$tree/init"
	grep -vxF "${ROW[ignore]-no such line}" hosts/splats.txt >"$out/splats"
	cp "$out/splats" "$tree/splats"
	files=$(module_files)
	{
		# shellcheck disable=SC2206 # words, patterns
		folders=(${ROW[modules]})
		for ours in "${folders[@]}"; do
			at=/modules
			((${#folders[@]} == 1)) || at+=/$(basename "$ours")
			[[ ! $files ]] || place_modules "$tree" "$ours" "$at" <<<"$files"
			for run in ${ROW[runs]}; do
				place_run "$tree" "${run%%=*}" "$(basename "$ours")"
			done
			[[ ! $files ]] || unload_lines <<<"$files"
		done
	} >"$tree/plan"
	(cd "$tree" && find . | cpio -o -H newc --quiet) >"$out/initramfs"
	mv "$tree/plan" "$out/plan"
	rm -r "$tree"
}
