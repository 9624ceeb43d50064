# SPDX-License-Identifier: GPL-2.0-only
# Prints build/bench.json as sections of tab-separated lines.

def rounded($digits): if . == null then "-" else pow(10; $digits) as $by | . * $by | round / $by | tostring end;
def signed: if . > 0 then "+\(rounded(1))" else rounded(1) end;

"One vCPU's data, in instructions; by io_uring, per read of 64 in one submission", "",
(["kernel", "bytes", "way", "all", "per byte", "above a syscall"],
 (.vcpu_data[] | [.kernel, .bytes, .what, (.value | rounded(0)), (.per_byte | rounded(2)), (.above_syscall | rounded(0))])
 | @tsv),
"", "Calls, in instructions", "",
(.calls[] | [.kernel, .what, (.value | rounded(0))] | @tsv),
"", "All vCPUs of a VM, in instructions, with so many of them; by io_uring, up to 64 in one submission", "",
(["kernel", "way", "1", "16", "256"], (.growth[] | [.kernel, .what, (.["1", "16", "256"] | rounded(0))]) | @tsv),
"", "Memory, in bytes", "",
(["for each", "series", "unpatched", "more", "peer"],
 (.memory[] | [.what, (.series, .unpatched, .more, .peer | rounded(0))]) | @tsv),
"", "An exit, in instructions, with each commit that changes it", "",
(["CPUID", "", "port", "", "commit"],
 ((.exits | .[0], .[1], (.[2:-1][] | select(.cpuid_more * .cpuid_more > 0.01 or .port_more * .port_more > 0.01)), .[-1]),
  .exits_timed
  | [(.cpuid | rounded(1)), (.cpuid_more | signed), (.port | rounded(1)), (.port_more | signed), .subject])
 | @tsv),
"", "On this machine's own KVM, ratios", "",
(if .native then .native[] | [.what, (.value | rounded(2))] | @tsv
 else "SKIP real hardware: \(.native_skipped)" end),
"", "Goals", "",
(.goals[] | [(if .reached then "reached" else "missed" end), .what, (.value | rounded(3)), .goal] | @tsv),
"", "\([.goals[] | select(.reached)] | length) of \(.goals | length) goals reached; all of this is in build/bench.json"
