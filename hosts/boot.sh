# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Starts the emulator of a row. Its first serial port is the kernel's console
# and goes to a file, its second the channel of PID 1 and goes to descriptor 3.

kernel_arguments()
{
	echo "console=${ROW[console]-ttyS0,115200} cryptomgr.notests=1" \
		"channel=${ROW[channel]-ttyS1} log_buf_len=4M panic=-1 ${ROW[append]-}"
}

packed_kernel()
{
	echo "${ROW[kernel]}"/boot/vmlinuz-*
}

# What QEMU starts: a kernel of our own as it is.
unpacked_kernel()
{
	[[ ! -e ${ROW[kernel]}/boot/image ]] || { echo "${ROW[kernel]}/boot/image" && return; }
	echo "build/hosts/$(basename "$(packed_kernel)").unpacked"
}

# An unsigned number in the setup header of a bzImage.
setup_field()
{
	od -An -tu"$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# After what zstd packed comes its length, at which the tool would stumble.
unpack_payload() # bzImage, offset, length
{
	local part=(dd if="$1" iflag=skip_bytes,count_bytes bs=1M status=none skip="$2")

	case $(od -An -tx1 -j "$2" -N 4 "$1" | tr -d ' ') in
	fd377a58) "${part[@]}" count="$3" | xz -dc --single-stream ;;
	28b52ffd) "${part[@]}" count=$(($3 - 4)) | zstd -dcq ;;
	*) return 1 ;;
	esac
}

# Decompressing itself takes the kernel ten seconds under TCG, and this machine
# one: QEMU starts what is packed in the bzImage, by its PVH entry.
unpack_kernel()
{
	local packed image sectors offset length

	packed=$(packed_kernel) image=$(unpacked_kernel)
	[[ $image != */boot/image && ! $image -nt $packed ]] || return 0
	sectors=$(setup_field "$packed" 0x1f1 1)
	offset=$(setup_field "$packed" 0x248 4)
	length=$(setup_field "$packed" 0x24c 4)
	unpack_payload "$packed" $(((sectors + 1) * 512 + offset)) "$length" \
		>"$image.part" ||
		die "no kernel packed by xz or zstd in $packed"
	mv "$image.part" "$image"
}

make_iso()
{
	local out=$1 iso=$1/iso

	mkdir -p "$iso/boot/grub"
	cp "$(packed_kernel)" "$iso/vmlinuz"
	cp "$out/initramfs" "$iso/initramfs"
	cat >"$iso/boot/grub/grub.cfg" <<-END
		linux /vmlinuz $(kernel_arguments)
		initrd /initramfs
		boot
	END
	grub-mkrescue -o "$out/host.iso" "$iso" >"$out/grub-mkrescue.log" 2>&1 ||
		die "no boot image: see $out/grub-mkrescue.log"
}

# What is slow or can fail comes before the emulator starts.
prepare_boot()
{
	case ${ROW[emulator]} in
	qemu-system-*) unpack_kernel ;;
	bochs*)
		make_iso "$1"
		sed "s|@OUT@|$1|g" hosts/bochsrc >"$1/bochsrc"
		echo c >"$1/bochs.rc"
		;;
	esac
}

bounded()
{
	local out=$1
	shift

	timeout --foreground -k 5 "${ROW[timeout]}" "$@" \
		3>&1 >"$out/emulator.log" 2>&1 </dev/null
}

# The channel is a second serial port, or a port of the virtio bus.
boot_qemu()
{
	local out=$1 channel=(-serial file:/dev/fd/3)

	[[ ${ROW[channel]-} != vport* ]] || channel=(
		-device "virtio-serial-pci${ROW[bus]+,bus=${ROW[bus]}}"
		-chardev file,id=channel,path=/dev/fd/3
		-device virtserialport,chardev=channel)

	# shellcheck disable=SC2086 # words
	bounded "$out" ${ROW[emulator]} -nodefaults -display none -no-reboot \
		-kernel "$(unpacked_kernel)" -initrd "$out/initramfs" \
		-append "$(kernel_arguments)" \
		-serial "file:$out/console.log" "${channel[@]}"
}

# Writes what PID 1 says, and then how the emulator ended.
boot()
{
	local out=$1 status=0

	# shellcheck disable=SC2086 # words
	case ${ROW[emulator]} in
	qemu-system-*) boot_qemu "$out" ;;
	bochs*) bounded "$out" unshare -n bochs -q -f "$out/bochsrc" -rc "$out/bochs.rc" ;;
	*) bounded "$out" ${ROW[emulator]} ;;
	esac || status=$?
	printf '\nemulator %d\n' "$status"
}
