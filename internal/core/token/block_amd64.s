#include "textflag.h"

// func processorHasAVX2() bool
TEXT ·processorHasAVX2(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  done
	MOVL $1, AX
	XORL CX, CX
	CPUID
	ANDL $(1<<27 | 1<<28), CX // OSXSAVE, AVX
	CMPL CX, $(1<<27 | 1<<28)
	JNE  done
	XORL CX, CX
	XGETBV
	ANDL $6, AX               // the system keeps XMM and YMM
	CMPL AX, $6
	JNE  done
	MOVL $7, AX
	XORL CX, CX
	CPUID
	SHRL $5, BX               // AVX2
	ANDL $1, BX
	MOVB BX, ret+0(FP)
done:
	RET

DATA consts<>+0(SB)/1, $0x20  // folds case; the blank
DATA consts<>+1(SB)/1, $0x1f  // moves 'a' to the lowest signed byte,
DATA consts<>+2(SB)/1, $0x9a  // and 'z' + 1 to this one
DATA consts<>+3(SB)/1, $0x50  // '0'
DATA consts<>+4(SB)/1, $0x8a  // '9' + 1
DATA consts<>+5(SB)/1, $0x77  // '\t'
DATA consts<>+6(SB)/1, $0x85  // '\r' + 1
DATA consts<>+7(SB)/1, $0x0a  // '\n'
DATA consts<>+8(SB)/1, $0x0d  // '\r'
DATA consts<>+9(SB)/1, $0x27  // '\''
DATA consts<>+10(SB)/1, $0x2f // '/'
GLOBL consts<>(SB), RODATA|NOPTR, $11

// MASK stores the high bits of the bytes of two vectors as one word.
#define MASK(low, high, at) \
	VPMOVMSKB low, AX \
	VPMOVMSKB high, BX \
	SHLQ      $32, BX \
	ORQ       BX, AX \
	MOVQ      AX, at(DI)

// func setsAVX2(b *block, s *sets)
TEXT ·setsAVX2(SB), NOSPLIT, $0-16
	MOVQ b+0(FP), SI
	MOVQ s+8(FP), DI
	VMOVDQU 0(SI), Y0
	VMOVDQU 32(SI), Y1
	MASK(Y0, Y1, 0)            // beyond
	VPADDB Y0, Y0, Y4
	VPADDB Y1, Y1, Y5
	MASK(Y4, Y5, 72)           // lead

	VPBROADCASTB consts<>+0(SB), Y2
	VPOR  Y2, Y0, Y4
	VPOR  Y2, Y1, Y5
	VPBROADCASTB consts<>+1(SB), Y6
	VPADDB Y6, Y4, Y4
	VPADDB Y6, Y5, Y5
	VPBROADCASTB consts<>+2(SB), Y6
	VPCMPGTB Y4, Y6, Y4
	VPCMPGTB Y5, Y6, Y5
	MASK(Y4, Y5, 8)            // letter
	MOVQ AX, DX
	VPSLLW $2, Y0, Y4
	VPSLLW $2, Y1, Y5
	VPMOVMSKB Y4, AX
	VPMOVMSKB Y5, BX
	SHLQ $32, BX
	ORQ  BX, AX
	NOTQ AX
	ANDQ DX, AX
	MOVQ AX, 16(DI)            // upper

	VPBROADCASTB consts<>+3(SB), Y6
	VPADDB Y6, Y0, Y4
	VPADDB Y6, Y1, Y5
	VPBROADCASTB consts<>+4(SB), Y6
	VPCMPGTB Y4, Y6, Y4
	VPCMPGTB Y5, Y6, Y5
	MASK(Y4, Y5, 24)           // digit

	VPCMPEQB Y2, Y0, Y8
	VPCMPEQB Y2, Y1, Y9
	MASK(Y8, Y9, 48)           // blank
	VPBROADCASTB consts<>+5(SB), Y6
	VPADDB Y6, Y0, Y4
	VPADDB Y6, Y1, Y5
	VPBROADCASTB consts<>+6(SB), Y6
	VPCMPGTB Y4, Y6, Y4
	VPCMPGTB Y5, Y6, Y5
	VPOR Y4, Y8, Y4
	VPOR Y5, Y9, Y5
	MASK(Y4, Y5, 32)           // space

	VPBROADCASTB consts<>+7(SB), Y6
	VPCMPEQB Y6, Y0, Y4
	VPCMPEQB Y6, Y1, Y5
	VPBROADCASTB consts<>+8(SB), Y6
	VPCMPEQB Y6, Y0, Y8
	VPCMPEQB Y6, Y1, Y9
	VPOR Y4, Y8, Y4
	VPOR Y5, Y9, Y5
	MASK(Y4, Y5, 40)           // newline

	VPBROADCASTB consts<>+9(SB), Y6
	VPCMPEQB Y6, Y0, Y4
	VPCMPEQB Y6, Y1, Y5
	MASK(Y4, Y5, 56)           // quote
	VPBROADCASTB consts<>+10(SB), Y6
	VPCMPEQB Y6, Y0, Y4
	VPCMPEQB Y6, Y1, Y5
	MASK(Y4, Y5, 64)           // slash
	VZEROUPPER
	RET
