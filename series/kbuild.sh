# SPDX-License-Identifier: GPL-2.0-only
# A tree and an object folder in which bisect and lint build KVM at any commit,
# apart from build/linux so that nobody's files change under them.
# shellcheck shell=bash disable=SC2034
KSRC=$BUILD/kernel/src
KOBJ=$BUILD/kernel/obj
KLOG=$BUILD/log/kernel-make.log
KVM_MODULES=(arch/x86/kvm/{kvm,kvm-amd,kvm-intel}.ko)

# MODVERSIONS would want symbols of a whole kernel; signing, BTF and debug info cost time.
CONFIG_OFF=(MODVERSIONS MODULE_SIG DEBUG_INFO DEBUG_INFO_BTF SECURITY_LOCKDOWN_LSM)

kmake() {
	nice make -C "$KSRC" O="$KOBJ" ARCH=x86 LOCALVERSION= -j"$(nproc)" "$@" >"$KLOG" 2>&1
}

first_error() { grep -m 1 -E 'error:|ERROR:|undefined|\*\*\*' "$KLOG" || tail -n 1 "$KLOG"; }

kernel_checkout() { # commit
	git -C "$KSRC" checkout -q -f --detach "$1"
}

# What a build depends on: these trees, the configuration, the compiler.
kernel_key() { # commit [more]
	{
		lgit rev-parse "$1:virt/kvm" "$1:arch/x86" "$1:include" "$1:scripts"
		cat "$KOBJ/.prepared"
		gcc --version
		echo "${@:2}"
	} | sha256sum | cut -d' ' -f1
}

kernel_config() {
	mkdir -p "$KOBJ"
	cp "$BUILD/stock/boot/config-$BASE_KERNEL" "$KOBJ/.config"
	local option
	for option in "${CONFIG_OFF[@]}"; do
		"$KSRC/scripts/config" --file "$KOBJ/.config" --disable "$option"
	done
	"$KSRC/scripts/config" --file "$KOBJ/.config" --set-str SYSTEM_TRUSTED_KEYS ""
	kmake olddefconfig
}

kernel_prepare() {
	need_tree
	mkdir -p "$BUILD/kernel" "$BUILD/log"
	local want
	want="$BASE_VERSION $(sha256sum <"$SERIES/kbuild.sh")"
	[ "$(cat "$KOBJ/.prepared" 2>/dev/null)" = "$want" ] && [ -e "$KSRC/.git" ] && return
	say "preparing a kernel tree for builds (about a minute, once)"
	rm -rf "$BUILD/kernel"
	mkdir -p "$BUILD/kernel"
	lgit worktree prune
	lgit worktree add -q --detach "$KSRC" base
	if ! { kernel_config && kmake modules_prepare; }; then
		die "the kernel tree cannot be prepared: $(first_error); see build/log/${KLOG##*/}"
	fi
	# what modpost may find outside KVM: the stock kernel's symbols
	cp "$BUILD/headers/usr/src/linux-headers-$BASE_KERNEL/Module.symvers" "$KOBJ/vmlinux.symvers"
	echo "$want" >"$KOBJ/.prepared"
}
