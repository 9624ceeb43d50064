# SPDX-License-Identifier: GPL-2.0-only
# Makes build/bench.json of what was measured: lines of row, name, value and unit as
# $measured, of commit and subject as $subjects, and the names of the rows as $names.
# What is missing is an error, since it should have been measured.

def lines: split("\n") | map(select(length > 0) | split("\t"));
def change($list; $i; $what): if $i == 0 then 0 else $list[$i][$what] - $list[$i - 1][$what] end;

(reduce ($measured | lines[]) as [$row, $name, $value, $unit] ({};
	if $unit then .[$row][$name] = ($value | tonumber) else . end)) as $all
| def get($row; $name): $all[$row][$name] // error("not measured on \($row): \($name)");
def has_native: $all | has("native");
def ratio($row; $a; $b): get($row; $a) / get($row; $b);

# One vCPU's data, in a size, in every way that the row has.
def way($row; $size; $what; $name):
	get($row; "\($name)/\($size)") as $value
	| { kernel: $names[$row], bytes: get($row; "bytes/\($size)"), what: $what, value: $value,
	    per_byte: ($value / get($row; "bytes/\($size)")),
	    above_syscall: ($value - get($row; "syscall")) };
def ways($row; $size):
	way($row; $size; "memcpy, to compare"; "memcpy"),
	(if $row == "bench" then way($row; $size; "mapping"; "mapping") else empty end),
	way($row; $size; "pread"; "pread"),
	way($row; $size; "io_uring, plain"; "uring-plain"),
	way($row; $size; "io_uring, registered file"; "uring-file"),
	way($row; $size; "io_uring, registered file and buffer"; "uring-buffer");

def call($row; $what; $name): { kernel: $names[$row], what: $what, value: get($row; $name) };
def calls($row):
	call($row; "empty syscall"; "syscall"),
	call($row; "debugfs folder of a VM, \(get($row; "files/debugfs")) files"; "debugfs"),
	(if $row == "bench-control" then empty
	 else call($row; "KVM_GET_STATS_FD and close"; "open-close") end);

def growth($row; $what):
	{ kernel: $names[$row], what: $what }
	+ ([1, 16, 256] | map({ key: "\(.)", value: get($row; "all-\($what)/\(.)") }) | from_entries);

def memory($what):
	get("bench"; "memory/\($what)") as $ours | get("bench-control"; "memory/\($what)") as $unpatched
	| { what: $what, series: $ours, unpatched: $unpatched, more: ($ours - $unpatched),
	    peer: get("bench-peer"; "memory/\($what)") };

def exits:
	[["none", "unpatched, as packaged: another compiler"], ($subjects | lines[])]
	| map({ commit: .[0], subject: .[1], cpuid: get("bench-exits"; "cpuid/\(.[0])"),
		port: get("bench-exits"; "port/\(.[0])") })
	| . as $list
	| [range(length) | . as $i | $list[$i]
	   + { cpuid_more: change($list; $i; "cpuid"), port_more: change($list; $i; "port") }];

def at_most($what; $value; $limit): { what: $what, value: $value, goal: "at most \($limit)", reached: ($value <= $limit) };
def at_least($what; $value; $limit): { what: $what, value: $value, goal: "at least \($limit)", reached: ($value >= $limit) };
def highest: [("plain", "file", "buffer") | get("bench"; "uring-\(.)/1104") / get("bench-peer"; "uring-\(.)/1104")] | max;

# The last commit, with exit_timing switched on.
def timed($exits):
	$exits[-1] | { subject: "\(.subject), with exit_timing on",
		cpuid: get("bench-exits"; "cpuid-timed/\(.commit)"), port: get("bench-exits"; "port-timed/\(.commit)") }
	+ { cpuid_more: (get("bench-exits"; "cpuid-timed/\(.commit)") - .cpuid),
	    port_more: (get("bench-exits"; "port-timed/\(.commit)") - .port) };

exits as $exits
| {
	unit: "instructions; of memory: bytes",
	vcpu_data: [("bench", "bench-peer") as $row | ways($row; "data"), ways($row; "1104")],
	calls: [calls("bench"), calls("bench-control"), calls("bench-peer")],
	growth: ([growth("bench"; ("mapping", "pread", "uring", "debugfs")), growth("bench-control"; "debugfs"),
		growth("bench-peer"; ("pread", "uring", "debugfs"))]),
	memory: ([memory("vm", "vcpu")] + [{ what: "stats-file", series: get("bench"; "memory/stats-file"),
		unpatched: null, more: get("bench"; "memory/stats-file"), peer: get("bench-peer"; "memory/stats-file") }]),
	exits: $exits,
	exits_timed: timed($exits),
	goals: [
		at_most("mapping / memcpy, 1104 bytes"; ratio("bench"; "mapping/1104"; "memcpy/1104"); 1.2),
		at_most("mapping / memcpy, data of a vCPU"; ratio("bench"; "mapping/data"; "memcpy/data"); 1.2),
		at_most("pread of 1104 bytes above an empty syscall"; get("bench"; "pread/1104") - get("bench"; "syscall"); 500),
		at_least("io_uring reads complete at submission, of 64, worst way";
			([("plain", "file", "buffer") | get("bench"; "inline-\(.)/1104")] | min); 64),
		at_most("io_uring / the peer, 1104 bytes, worst way"; highest; 0.5),
		at_least("debugfs / pread, all of a VM with one vCPU"; ratio("bench"; "debugfs"; "pread/whole"); 300),
		at_least("debugfs / mapping, all of a VM with one vCPU"; ratio("bench"; "debugfs"; "mapping/whole"); 5000),
		at_most("CPUID exit, series / unpatched, both built here"; $exits[-1].cpuid / $exits[1].cpuid; 1.01)
	],
	native: (if has_native then [
		{ what: "pread / empty syscall", value: ratio("native"; "pread/data"; "syscall") },
		{ what: "KVM_GET_STATS_FD and close / empty syscall", value: ratio("native"; "open-close"; "syscall") },
		{ what: "io_uring, plain / pread", value: ratio("native"; "uring-plain/data"; "pread/data") },
		({ what: "mapping / memcpy", over: "mapping/data", under: "memcpy/data" },
		 { what: "debugfs / pread, all of a VM with one vCPU", over: "debugfs", under: "pread/whole" }
		 | select($all.native[.over])
		 | { what, value: ratio("native"; .over; .under) })
	] else null end),
	native_skipped: (if has_native then null else $skipped end)
}
