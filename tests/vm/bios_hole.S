# SPDX-License-Identifier: GPL-2.0-or-later
#
# An option ROM that takes the megabyte below 16 MiB out of the BIOS's memory map.
#
# GRUB for BIOS loads a kernel at the lowest address where it fits, 1 MiB, and moves it to the
# 16 MiB that it asks for, all 64 MiB that it needs to unpack itself, byte by byte. Emulated, both
# addresses of each byte fall on the same entry of QEMU's TLB: 4 to 8 seconds of each boot.
# With the hole, as some chipsets had it, 16 MiB is the lowest address where the kernel fits.
#
# INT 15h, AX=E820h (ACPI specification, 15.1): EBX is 0 or what the call before returned, ES:DI
# where the entry goes: base, length, type. SeaBIOS counts entries in EBX; the second part of the
# entry that is cut has its number and SECOND.

	.code16
	.set	SECOND, 0x4000
	.set	LOWEST, 0x100000		# where the entry begins that is cut
	.set	HOLE, 0xf00000
	.set	HOLE_END, 0x1000000

	.global	_start
_start:
	.byte	0x55, 0xaa			# an option ROM ...
	.byte	1				# ... of 512 bytes; called at offset 3
	push	%ds
	push	%eax
	xor	%ax, %ax
	mov	%ax, %ds
	mov	0x15 * 4, %eax
	mov	%eax, %cs:previous - _start	# the ROM is still writable
	movw	$handler - _start, 0x15 * 4
	mov	%cs, 0x15 * 4 + 2
	pop	%eax
	pop	%ds
	lret

handler:
	cmp	$0xe820, %ax
	je	map
	ljmp	*%cs:previous - _start
map:
	test	$SECOND, %bx
	jnz	second
	push	%ebx				# the entry's number
	pushf
	lcall	*%cs:previous - _start
	jc	failed
	cmpl	$0, %es:4(%di)
	jne	other
	cmpl	$LOWEST, %es:(%di)
	jne	other
	movl	$HOLE - LOWEST, %es:8(%di)
	movl	$0, %es:12(%di)
	pop	%ebx
	or	$SECOND, %bx
	clc
	jmp	back
other:
	clc
failed:
	lea	4(%esp), %esp			# the number: EBX is the next one's; flags stay
	jmp	back
second:
	and	$~SECOND, %bx
	pushf
	lcall	*%cs:previous - _start
	jc	back
	subl	$HOLE_END - LOWEST, %es:8(%di)
	sbbl	$0, %es:12(%di)
	movl	$HOLE_END, %es:(%di)
	clc
back:	# with the carry flag as it is now, not as the caller had it
	push	%bp
	mov	%sp, %bp
	jc	1f
	andw	$~1, 6(%bp)
	jmp	2f
1:	orw	$1, 6(%bp)
2:	pop	%bp
	iret

previous:
	.long	0
	.org	511
	.byte	0				# the checksum
