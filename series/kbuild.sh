# SPDX-License-Identifier: GPL-2.0-only
# A tree, and an object folder for each configuration of arches.tsv, in which kernels,
# bisect and lint build KVM at any commit; apart from build/linux, so that nobody's
# files change under them. kernel_use comes first and says which configuration it is.
# shellcheck shell=bash disable=SC2034
KSRC=$BUILD/kernel/src
ARCHES=$SERIES/arches.tsv

# In the stock configuration, MODVERSIONS would want symbols of a whole kernel;
# signing, BTF and debug info cost time.
CONFIG_OFF=(MODVERSIONS MODULE_SIG DEBUG_INFO DEBUG_INFO_BTF SECURITY_LOCKDOWN_LSM)

kernel_names() { awk -F'\t' '!/^#/ { print $1 }' "$ARCHES"; }
# Those whose KVM is compiled whether a host boots it or not
kernel_names_built() { awk -F'\t' '!/^#/ && $6 != "-" { print $1 }' "$ARCHES"; }

kernel_use() { # name
	local line
	line=$(awk -F'\t' -v name="$1" '!/^#/ && $1 == name' "$ARCHES")
	[ -n "$line" ] || die "no '$1' in series/arches.tsv; there are: $(kernel_names | xargs)"
	IFS=$'\t' read -r KNAME KARCH KCOMPILER KCONFIG KSTATS KTARGETS KIMAGE <<<"$line"
	KCOMPILER=${KCOMPILER#-} KIMAGE=${KIMAGE#-}
	KOBJ=$BUILD/kernel/$KNAME
	KLOG=$BUILD/log/kernel-$KNAME.log
}

kmake() {
	nice make -C "$KSRC" O="$KOBJ" ARCH="$KARCH" CROSS_COMPILE="$KCOMPILER" LOCALVERSION= \
		-j"$(nproc)" "$@" >"$KLOG" 2>&1
}

# .ko targets make modpost look for symbols that nobody exports. Only for x86 there is a
# list of what the rest of the kernel exports; without, that is a warning.
kmake_kvm() { # argument...
	local warn=
	[ -e "$KOBJ/vmlinux.symvers" ] || warn=KBUILD_MODPOST_WARN=1
	# shellcheck disable=SC2086 # words
	kmake KBUILD_MODPOST_NOFINAL=1 $warn "$@" $KTARGETS
}

first_error() { grep -m 1 -E 'error:|ERROR:|undefined|\*\*\*' "$KLOG" || tail -n 1 "$KLOG"; }

# A commit that lacks an option of the series drops it from .config, and for the next one
# that has it, it would be a new one: so each starts with the whole configuration.
kernel_checkout() { # commit
	git -C "$KSRC" checkout -q -f --detach "$1"
	[ ! -e "$KOBJ/config" ] || cp "$KOBJ/config" "$KOBJ/.config"
}

kernel_config_stock() {
	cp "$BUILD/stock/boot/config-$BASE_KERNEL" "$KOBJ/.config"
	local option
	for option in "${CONFIG_OFF[@]}"; do
		"$KSRC/scripts/config" --file "$KOBJ/.config" --disable "$option"
	done
	"$KSRC/scripts/config" --file "$KOBJ/.config" --set-str SYSTEM_TRUSTED_KEYS ""
	kmake olddefconfig
}

# What a fragment asks for and does not get, since something that it needs is missing,
# would be noticed late and far from here.
check_config() {
	local line missing=''
	while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%=n}=" "$KOBJ/.config" ;;
		*) grep -qxF "$line" "$KOBJ/.config" ;;
		esac || missing+=" $line"
	done < <(grep '^CONFIG_' "$KOBJ/fragment")
	[ -z "$missing" ] || die "the configuration of $KNAME comes without$missing: mend hosts/kernels"
}

kernel_fragment() {
	local word
	for word in $KCONFIG; do
		case $word in
		stock) ;;
		*=*) echo "CONFIG_$word" ;;
		*) cat "$TOP/hosts/kernels/$word.config" || die "series/arches.tsv wants hosts/kernels/$word.config" ;;
		esac
	done
}

kernel_config_fragments() {
	kernel_fragment >"$KOBJ/fragment"
	kmake KCONFIG_ALLCONFIG="$KOBJ/fragment" allnoconfig && check_config
}

kernel_config_key() {
	{
		echo "$BASE_VERSION $BASE_KERNEL $KARCH $KCONFIG"
		"${KCOMPILER}gcc" --version
		kernel_fragment
		lgit rev-parse "$BRANCH:virt/kvm/Kconfig"
		cat "$SERIES/kbuild.sh"
	} | sha256sum
}

kernel_make_ready() {
	kmake prepare || return
	! grep -q '^CONFIG_MODULES=y' "$KOBJ/.config" || kmake modules_prepare
}

kernel_tree() {
	need_tree
	! git -C "$KSRC" rev-parse -q --verify HEAD >/dev/null 2>&1 || return 0
	rm -rf "$BUILD/kernel"
	mkdir -p "$BUILD/kernel"
	lgit worktree prune
	lgit worktree add -q --detach "$KSRC" base
}

# Makes the object folder of the configuration in use ready for kmake.
kernel_prepare() {
	kernel_tree
	mkdir -p "$BUILD/log"
	local want config=kernel_config_fragments
	want=$(kernel_config_key)
	[ "$(cat "$KOBJ/.prepared" 2>/dev/null)" != "$want" ] || return 0
	say "preparing $KNAME"
	rm -f "$KOBJ/.prepared" "$KOBJ/config"
	mkdir -p "$KOBJ"
	[ "$KCONFIG" != stock ] || config=kernel_config_stock
	kernel_checkout "$BRANCH"
	if ! { $config && cp "$KOBJ/.config" "$KOBJ/config" && kernel_make_ready; }; then
		die "$KNAME cannot be prepared: $(first_error); see ${KLOG#"$TOP"/}"
	fi
	# what modpost may find outside KVM: the stock kernel's symbols
	[ "$KCONFIG" != stock ] ||
		cp "$BUILD/headers/usr/src/linux-headers-$BASE_KERNEL/Module.symvers" "$KOBJ/vmlinux.symvers"
	echo "$want" >"$KOBJ/.prepared"
}

# What a build depends on: the tree without what is not built, the configuration, the
# compiler.
kernel_key() { # commit [more]
	{
		lgit ls-tree "$1" | grep -v -E '[[:space:]](Documentation|tools|MAINTAINERS|arch)$'
		lgit ls-tree "$1" "arch/Kconfig" "arch/${KARCH/i386/x86}"
		cat "$KOBJ/.prepared"
		echo "$KTARGETS $KIMAGE" "${@:2}"
	} | sha256sum | cut -d' ' -f1
}

# What has been built once needs no second proof that it builds.
kernel_remember() { grep -qx "$1" "$BUILD/kernel/built" 2>/dev/null || echo "$1" >>"$BUILD/kernel/built"; }
kernel_remembered() { grep -qx "$1" "$BUILD/kernel/built" 2>/dev/null; }
