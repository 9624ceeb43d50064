# SPDX-License-Identifier: GPL-2.0-only
# The one door. Each step says what it does and how long it took, and does nothing
# that is done already; everything fetched or built is below build/.

STEP := series/step
TAP := build/check.tap
START := $(shell date +%s)
TOOK = echo "== $@: $$(($$(date +%s) - $(START))) s in all"

.NOTPARALLEL:
.PHONY: help run check series tree modules clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 10

run: modules ## show it: a VM's statistics, read by QEMU in an emulated 5.10 host
	@$(STEP) show hosts/run show svm
	@$(TOOK)

check: ## all tests; the last line is N passed, N failed, N skipped
	@mkdir -p $(dir $(TAP)) && : >$(TAP)
	@export TAP=$(TAP); \
	$(STEP) packages series/packages check && \
	$(STEP) fetch series/fetch && \
	$(STEP) compose series/compose && { \
		$(STEP) verify series/verify; \
		$(STEP) lint series/lint; \
		$(STEP) selftests series/selftests; \
		$(STEP) modules series/modules; \
		$(STEP) hosts hosts/run check; \
		$(STEP) bisect series/bisect; \
	}; $(TOOK); \
	awk '/^not ok/ { failed++; next } /# SKIP/ { skipped++; next } { passed++ } \
		END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; \
			exit failed || !passed }' $(TAP)

series: tree ## build/series/: the mailbox for git am, and the cover letter

tree: ## build/linux: the patched kernel tree, branch kvm-stats
	@$(STEP) packages series/packages run
	@$(STEP) fetch series/fetch
	@$(STEP) compose series/compose

modules: tree ## build/modules/: kvm.ko, kvm-amd.ko, kvm-intel.ko for the stock kernel
	@$(STEP) modules series/modules

clean: ## remove build/
	rm -rf build
