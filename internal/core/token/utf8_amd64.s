#include "textflag.h"

// The tables of Keiser and Lemire, "Validating UTF-8 in less than one instruction
// per byte" (2021). Each error is a bit; two neighboring bytes have an error if the
// tables of the first byte's high half, of its low half and of the second byte's
// high half all have its bit. Bit 7 is two continuation bytes, which is no error
// after a lead byte of three or four.
DATA firstHigh<>+0(SB)/8, $0x0202020202020202
DATA firstHigh<>+8(SB)/8, $0x4915012180808080
GLOBL firstHigh<>(SB), RODATA|NOPTR, $16
DATA firstLow<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstLow<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL firstLow<>(SB), RODATA|NOPTR, $16
DATA secondHigh<>+0(SB)/8, $0x0101010101010101
DATA secondHigh<>+8(SB)/8, $0x01010101babaaee6
GLOBL secondHigh<>(SB), RODATA|NOPTR, $16
DATA limits<>+0(SB)/1, $0x0f // the low half of a byte
DATA limits<>+1(SB)/1, $0x60 // 0xe0 and above, less this, have bit 7
DATA limits<>+2(SB)/1, $0x70 // 0xf0 and above, less this, have bit 7
DATA limits<>+3(SB)/1, $0x80
GLOBL limits<>(SB), RODATA|NOPTR, $4

// func validAVX2(text *byte, n int) bool
TEXT ·validAVX2(SB), NOSPLIT, $0-17
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTI128 firstHigh<>(SB), Y10
	VBROADCASTI128 firstLow<>(SB), Y11
	VBROADCASTI128 secondHigh<>(SB), Y12
	VPBROADCASTB limits<>+0(SB), Y13
	VPBROADCASTB limits<>+1(SB), Y14
	VPBROADCASTB limits<>+2(SB), Y15
	VPBROADCASTB limits<>+3(SB), Y9
	VPXOR Y8, Y8, Y8          // errors
	VPXOR Y1, Y1, Y1          // the 32 bytes before
	XORL  DX, DX              // their bytes beyond ASCII

loop:
	VMOVDQU   (SI), Y0
	VPMOVMSKB Y0, AX
	ORL       AX, DX
	JZ        next
	VPERM2I128 $0x21, Y0, Y1, Y1
	VPALIGNR   $15, Y1, Y0, Y2 // each byte's neighbor before it
	VPALIGNR   $14, Y1, Y0, Y3
	VPALIGNR   $13, Y1, Y0, Y4
	VPSRLW     $4, Y2, Y5
	VPAND      Y13, Y5, Y5
	VPSHUFB    Y5, Y10, Y5
	VPAND      Y13, Y2, Y2
	VPSHUFB    Y2, Y11, Y2
	VPAND      Y2, Y5, Y5
	VPSRLW     $4, Y0, Y6
	VPAND      Y13, Y6, Y6
	VPSHUFB    Y6, Y12, Y6
	VPAND      Y6, Y5, Y5
	VPSUBUSB   Y14, Y3, Y3     // the second byte after a lead of three or four
	VPSUBUSB   Y15, Y4, Y4     // the third after one of four
	VPOR       Y3, Y4, Y3
	VPAND      Y9, Y3, Y3
	VPXOR      Y3, Y5, Y5
	VPOR       Y5, Y8, Y8

next:
	VMOVDQA Y0, Y1
	MOVL    AX, DX
	ADDQ    $32, SI
	SUBQ    $32, CX
	JNZ     loop
	VPTEST  Y8, Y8
	SETEQ   ret+16(FP)
	VZEROUPPER
	RET
