# SPDX-License-Identifier: GPL-2.0-only
# The one door. Each step says what it does and how long it took, and does nothing
# that is done already; everything fetched or built is below build/.

STEP := series/step
TAP := build/check.tap
HOSTS ?=
START := $(shell date +%s)
TOOK = echo "== $@: $$(($$(date +%s) - $(START))) s in all"

.NOTPARALLEL:
.PHONY: help run check check-quick series tree modules bench clean

# The end of a check: the time, and the sum of all TAP lines as its verdict.
define VERDICT
$(TOOK); \
awk '/^not ok/ { failed++; next } /# SKIP/ { skipped++; next } { passed++ } \
	END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; \
		exit failed || !passed }' $(TAP)
endef

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 13

run: modules ## show it: a VM's statistics, read by QEMU in an emulated 5.10 host
	@$(STEP) show hosts/run show svm
	@$(TOOK)

check: ## all tests, on the hosts HOSTS="NAME..." of hosts/hosts.cfg or on all
	@mkdir -p $(dir $(TAP)) && : >$(TAP)
	@export TAP=$(TAP); \
	$(STEP) names hosts/run names $(HOSTS) && \
	$(STEP) packages series/packages check && \
	$(STEP) fetch series/fetch && \
	$(STEP) compose series/compose && { \
		$(STEP) verify series/verify; \
		$(STEP) selftests series/selftests x86 x86-32 arm64 ppc64le mips s390; \
		$(STEP) modules series/modules; \
		$(STEP) kernels hosts/run kernels $(HOSTS); \
		$(STEP) hosts hosts/run check $(HOSTS); \
		$(STEP) lint series/lint; \
		$(STEP) bisect series/bisect; \
	}; $(VERDICT)

check-quick: ## the tests of x86 on SVM alone, without lint, bisect and kernels
	@mkdir -p $(dir $(TAP)) && : >$(TAP)
	@export TAP=$(TAP); \
	$(STEP) packages series/packages run && \
	$(STEP) fetch series/fetch && \
	$(STEP) compose series/compose && { \
		$(STEP) verify series/verify; \
		$(STEP) selftests series/selftests x86 x86-32; \
		$(STEP) modules series/modules; \
		$(STEP) hosts hosts/run check svm control; \
	}; $(VERDICT)

bench: modules ## what it costs, in instructions; a table, and build/bench.json
	@$(STEP) packages series/packages bench
	@$(STEP) peer series/fetch peer
	@$(STEP) commits series/modules each
	@$(STEP) bench hosts/run bench
	@$(STEP) native hosts/bench/native
	@$(STEP) report hosts/bench/report
	@$(TOOK)

series: tree ## build/series/: the mailbox for git am, and the cover letter

tree: ## build/linux: the patched kernel tree, branch kvm-stats
	@$(STEP) packages series/packages run
	@$(STEP) fetch series/fetch
	@$(STEP) compose series/compose

modules: tree ## build/modules/: kvm.ko, kvm-amd.ko, kvm-intel.ko for the stock kernel
	@$(STEP) modules series/modules

clean: ## remove build/
	rm -rf build
