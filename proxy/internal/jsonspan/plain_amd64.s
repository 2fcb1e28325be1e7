#include "textflag.h"

// Tables that VPSHUFB looks up half bytes in.

// escapes has at the low half of each of \ / f n r t the character itself.
DATA escapes<>+0(SB)/8, $0xff66ff74ff72ffff
DATA escapes<>+8(SB)/8, $0x2f6eff5cffffffff
GLOBL escapes<>(SB), RODATA|NOPTR, $16

// The two halves of a hexadecimal digit have a bit in common here.
DATA hexHigh<>+0(SB)/8, $0x0002000201000000
DATA hexHigh<>+8(SB)/8, $0
GLOBL hexHigh<>(SB), RODATA|NOPTR, $16
DATA hexLow<>+0(SB)/8, $0x0103030303030301
DATA hexLow<>+8(SB)/8, $0x0000000000000101
GLOBL hexLow<>(SB), RODATA|NOPTR, $16

// What may be wrong with two neighbours in UTF-8, a bit for each fault: all that
// the high half of the first, its low half and the high half of the second have
// in common. The top bit stands for two continuation bytes, which are right if
// the character began one or two bytes before. The scheme is that of Keiser and
// Lemire, "Validating UTF-8 in less than one instruction per byte", 2020.
DATA firstHigh<>+0(SB)/8, $0x0202020202020202
DATA firstHigh<>+8(SB)/8, $0x4915012180808080
GLOBL firstHigh<>(SB), RODATA|NOPTR, $16
DATA firstLow<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstLow<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL firstLow<>(SB), RODATA|NOPTR, $16
DATA secondHigh<>+0(SB)/8, $0x0101010101010101
DATA secondHigh<>+8(SB)/8, $0x01010101babaaee6
GLOBL secondHigh<>(SB), RODATA|NOPTR, $16

// Single bytes: quote, backslash, space, half a byte, u; what leaves the top bit
// only of leads of three and more bytes, and of four; the top bit.
DATA bytes<>+0(SB)/8, $0x807060750f205c22
GLOBL bytes<>(SB), RODATA|NOPTR, $8

// UTF8 sets BAD to the bytes at OFF of the block that end something which is no
// UTF-8. All of the characters that begin before the block are whole.
#define UTF8(OFF, BAD) \
	VMOVDQU OFF(SI)(AX*1), Y7 \
	VMOVDQU (OFF-1)(SI)(AX*1), Y8 \
	VPSRLW $4, Y7, Y7 \
	VPAND Y7, Y15, Y7 \
	VPAND Y8, Y15, Y9 \
	VPSRLW $4, Y8, Y8 \
	VPAND Y8, Y15, Y8 \
	VBROADCASTI128 secondHigh<>(SB), Y10 \
	VBROADCASTI128 firstLow<>(SB), Y11 \
	VBROADCASTI128 firstHigh<>(SB), Y12 \
	VPSHUFB Y7, Y10, Y10 \
	VPSHUFB Y9, Y11, Y11 \
	VPSHUFB Y8, Y12, Y12 \
	VPAND Y10, Y11, Y10 \
	VPAND Y10, Y12, Y10 \
	VMOVDQU (OFF-2)(SI)(AX*1), Y8 \
	VMOVDQU (OFF-3)(SI)(AX*1), Y9 \
	VPSUBUSB Y4, Y8, Y8 \
	VPSUBUSB Y5, Y9, Y9 \
	VPOR Y8, Y9, Y8 \
	VPAND Y8, Y6, Y8 \
	VPXOR Y8, Y10, Y8 \
	VPXOR Y9, Y9, Y9 \
	VPCMPEQB Y8, Y9, Y8 \
	VPMOVMSKB Y8, BAD

// NOTHEX sets BAD to the bytes of BLOCK that are no hexadecimal digits.
#define NOTHEX(BLOCK, BAD) \
	VPSRLW $4, BLOCK, Y9 \
	VPAND Y9, Y15, Y9 \
	VPAND BLOCK, Y15, Y10 \
	VBROADCASTI128 hexHigh<>(SB), Y11 \
	VBROADCASTI128 hexLow<>(SB), Y12 \
	VPSHUFB Y9, Y11, Y9 \
	VPSHUFB Y10, Y12, Y10 \
	VPAND Y9, Y10, Y9 \
	VPXOR Y10, Y10, Y10 \
	VPCMPEQB Y9, Y10, Y9 \
	VPMOVMSKB Y9, BAD

// func plainAVX2(p *byte, n int) int
TEXT ·plainAVX2(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ AX, AX                // where the block begins
	SUBQ $64, CX               // where the last one may
	JLT  return
	VPBROADCASTB bytes<>+0(SB), Y0
	VPBROADCASTB bytes<>+1(SB), Y1
	VPBROADCASTB bytes<>+2(SB), Y2
	VBROADCASTI128 escapes<>(SB), Y3
	VPBROADCASTB bytes<>+5(SB), Y4
	VPBROADCASTB bytes<>+6(SB), Y5
	VPBROADCASTB bytes<>+7(SB), Y6
	VPBROADCASTB bytes<>+3(SB), Y15
	MOVQ $0xaaaaaaaaaaaaaaaa, DX

block:
	VMOVDQU (SI)(AX*1), Y7
	VMOVDQU 32(SI)(AX*1), Y8
	VPCMPGTB Y7, Y2, Y9        // signed: control characters and all beyond ASCII
	VPCMPGTB Y8, Y2, Y10
	VPCMPEQB Y7, Y0, Y11
	VPCMPEQB Y8, Y0, Y12
	VPCMPEQB Y7, Y1, Y13
	VPCMPEQB Y8, Y1, Y14
	VPMOVMSKB Y9, R8
	VPMOVMSKB Y10, R9
	SHLQ $32, R9
	ORQ  R9, R8                // R8: not printable ASCII
	VPMOVMSKB Y11, R10
	VPMOVMSKB Y12, R11
	SHLQ $32, R11
	ORQ  R11, R10              // R10: quotes
	VPMOVMSKB Y13, R12
	VPMOVMSKB Y14, R13
	SHLQ $32, R13
	ORQ  R13, R12              // R12: backslashes
	JNZ  escaped
	XORQ R11, R11
	XORQ R13, R13
	MOVQ R8, R9
	ORQ  R10, R9
	JNZ  odd
	ADDQ $64, AX
	CMPQ AX, CX
	JLE  block
	JMP  done

escaped:
	// Backslashes come in runs, of which every other one, from the first on,
	// escapes what follows. A subtraction carries through each run.
	LEAQ (R12)(R12*1), R9
	ORQ  DX, R9
	SUBQ R12, R9
	XORQ DX, R9
	MOVQ R9, R11
	ANDQ R12, R11              // R11: backslashes that escape
	XORQ R12, R9               // R9: what they escape
	VPSHUFB Y7, Y3, Y9
	VPSHUFB Y8, Y3, Y10
	VPCMPEQB Y7, Y9, Y9
	VPCMPEQB Y8, Y10, Y10
	VPMOVMSKB Y9, R13
	VPMOVMSKB Y10, R12
	SHLQ $32, R12
	ORQ  R12, R13
	ORQ  R10, R13
	ANDNQ R9, R13, R13         // R13: escaped, but none of " \ / f n r t
	ANDNQ R10, R9, R10         // R10: quotes that close
	MOVQ R8, R9
	ORQ  R10, R9
	ORQ  R13, R9
	JNZ  odd
next:
	TESTQ R11, R11
	JLT  broken
	ADDQ $64, AX
	CMPQ AX, CX
	JLE  block
	JMP  done
broken: // between a backslash and what it escapes: the next block has both
	ADDQ $63, AX
	CMPQ AX, CX
	JLE  block
	JMP  done

odd: // R10 becomes all that stops
	VPMOVMSKB Y7, R9
	VPMOVMSKB Y8, R12
	SHLQ $32, R12
	ORQ  R9, R12               // R12: beyond ASCII
	ANDNQ R8, R12, R8
	ORQ  R8, R10
	TESTQ R13, R13
	JZ   text
	VPBROADCASTB bytes<>+4(SB), Y11
	VPCMPEQB Y7, Y11, Y9
	VPCMPEQB Y8, Y11, Y10
	VPMOVMSKB Y9, R8
	VPMOVMSKB Y10, R9
	SHLQ $32, R9
	ORQ  R9, R8
	MOVQ R13, R9
	ANDQ R13, R8               // R8: the u of each \u
	XORQ R8, R9
	MOVQ R8, R13
	SHRQ $60, R13
	SHLQ $60, R13
	XORQ R13, R8               // of those with four more bytes in the block
	ORQ  R13, R9
	SHRQ $1, R9                // a stop is where the escape begins
	ORQ  R9, R10
	LEAQ (R8)(R8*1), R9
	LEAQ (R9)(R8*4), R9
	LEAQ (R9)(R8*8), R9
	SHLQ $4, R8
	ORQ  R8, R9                // R9: where digits must be
	NOTHEX(Y7, R8)
	NOTHEX(Y8, R13)
	SHLQ $32, R13
	ORQ  R13, R8
	ANDQ R9, R8
	BLSMSKQ R10, R13           // up to the first stop
	TESTQ R8, R13
	JNZ  done
text:
	BLSMSKQ R10, R13
	TESTQ R12, R13
	JZ   stop
	UTF8(0, R8)
	UTF8(32, R9)
	SHLQ $32, R9
	ORQ  R9, R8
	NOTQ R8
	TESTQ R8, R13
	JNZ  done
	TESTQ R10, R10
	JNZ  stop
	// A character that the block has not all of begins the next one.
	XORL R8, R8
	MOVL $3, R9
	CMPB 61(SI)(AX*1), $0xf0
	CMOVLCC R9, R8
	MOVL $2, R9
	CMPB 62(SI)(AX*1), $0xe0
	CMOVLCC R9, R8
	MOVL $1, R9
	CMPB 63(SI)(AX*1), $0xc0
	CMOVLCC R9, R8
	SHRQ $63, R11              // nor of an escape
	ORQ  R11, R8
	ADDQ $64, AX
	SUBQ R8, AX
	CMPQ AX, CX
	JLE  block
	JMP  done
stop:
	TESTQ R10, R10
	JZ   next
	BSFQ R10, R10
	ADDQ R10, AX
done:
	VZEROUPPER
return:
	MOVQ AX, ret+16(FP)
	RET
