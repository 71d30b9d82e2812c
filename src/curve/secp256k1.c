/*
 * The functions of secp256k1 that the protocols use, over Bitcoin Core's libsecp256k1.
 *
 * Inputs and outputs are at fixed places of one buffer. A point is x and y, 32 bytes each,
 * big-endian. The identity is 64 zero bytes, which are no point of the curve. A scalar has 32
 * bytes, big-endian, below the order. The caller passes points and scalars that these functions
 * have returned.
 *
 * Functions marked PUBLIC take a time that depends on their inputs. All others run in constant
 * time: their control flow and their addresses depend on no input, except on whether a point is
 * the identity.
 *
 * secp256k1.sh builds the file.
 */
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

/* What the library calls of a C library, which a module of WebAssembly does not have. */
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);
void *malloc(size_t size);
void free(void *memory);
void abort(void);
#define stderr NULL
#define fprintf(...) ((void)0)
#define printf(...) ((void)0)

#include "assumptions.h"
#include "util.h"
#include "int128_impl.h"
#include "field_impl.h"
#include "scalar_impl.h"
#include "group_impl.h"
#include "hash_impl.h"
#include "scratch_impl.h"
#include "ecmult_impl.h"
#include "ecmult_const_impl.h"
#include "ecmult_gen_impl.h"
#include "precomputed_ecmult.c"
#include "precomputed_ecmult_gen.c"

#define EXPORT(name) __attribute__((export_name(#name))) name

/* With the bulk memory operations of WebAssembly, each of these is one instruction. */
void *memcpy(void *to, const void *from, size_t count) { return __builtin_memcpy(to, from, count); }
void *memmove(void *to, const void *from, size_t count) { return __builtin_memmove(to, from, count); }
void *memset(void *to, int value, size_t count) { return __builtin_memset(to, value, count); }
int memcmp(const void *a, const void *b, size_t count) {
    const unsigned char *x = a, *y = b;
    for (; count > 0; count--, x++, y++) if (*x != *y) return *x < *y ? -1 : 1;
    return 0;
}
void abort(void) { __builtin_trap(); }

static struct {
    unsigned char a[64], b[64];
    unsigned char s[32], t[32];
    unsigned char result[64];
    unsigned char text[768];
} io;

static secp256k1_ecmult_gen_context blinded;

/* Returns the address of the buffer. */
unsigned char *EXPORT(buffer)(void) { return (unsigned char *)&io; }

/* Begins with the blinding of products of the generator, by 32 random bytes at `text`. */
void EXPORT(begin)(void) {
    secp256k1_ecmult_gen_context_build(&blinded);
    secp256k1_ecmult_gen_blind(&blinded, io.text);
}

static int is_identity(const unsigned char *point) {
    unsigned char any = 0;
    for (int i = 0; i < 64; i++) any |= point[i];
    return any == 0;
}

static void read_point(secp256k1_ge *point, const unsigned char *bytes) {
    secp256k1_fe x, y;
    if (is_identity(bytes)) {
        secp256k1_ge_set_infinity(point);
        return;
    }
    secp256k1_fe_set_b32_mod(&x, bytes);
    secp256k1_fe_set_b32_mod(&y, bytes + 32);
    secp256k1_ge_set_xy(point, &x, &y);
}

static void write_point(unsigned char *bytes, secp256k1_ge *point) {
    if (secp256k1_ge_is_infinity(point)) {
        memset(bytes, 0, 64);
        return;
    }
    secp256k1_fe_normalize(&point->x);
    secp256k1_fe_normalize(&point->y);
    secp256k1_fe_get_b32(bytes, &point->x);
    secp256k1_fe_get_b32(bytes + 32, &point->y);
}

static void write_product(secp256k1_gej *product) {
    secp256k1_ge affine;
    secp256k1_ge_set_gej(&affine, product);
    write_point(io.result, &affine);
}

/* Returns s G. */
void EXPORT(multiplyGenerator)(void) {
    secp256k1_scalar s;
    secp256k1_gej product;
    secp256k1_scalar_set_b32(&s, io.s, NULL);
    secp256k1_ecmult_gen(&blinded, &product, &s);
    write_product(&product);
}

/* Returns s A. */
void EXPORT(multiply)(void) {
    secp256k1_scalar s;
    secp256k1_ge a;
    secp256k1_gej product;
    secp256k1_scalar_set_b32(&s, io.s, NULL);
    read_point(&a, io.a);
    secp256k1_ecmult_const(&product, &a, &s);
    write_product(&product);
}

/* PUBLIC. Returns s A + t G. */
void EXPORT(combine)(void) {
    secp256k1_scalar s, t;
    secp256k1_ge a;
    secp256k1_gej product, point;
    secp256k1_scalar_set_b32(&s, io.s, NULL);
    secp256k1_scalar_set_b32(&t, io.t, NULL);
    read_point(&a, io.a);
    secp256k1_gej_set_ge(&point, &a);
    secp256k1_ecmult(&product, &point, &s, &t);
    if (secp256k1_gej_is_infinity(&product)) memset(io.result, 0, 64);
    else {
        secp256k1_ge affine;
        secp256k1_ge_set_gej_var(&affine, &product);
        write_point(io.result, &affine);
    }
}

/* Returns A + B. */
void EXPORT(add)(void) {
    secp256k1_ge a, b;
    secp256k1_gej sum;
    read_point(&a, io.a);
    read_point(&b, io.b);
    secp256k1_gej_set_ge(&sum, &a);
    if (!secp256k1_ge_is_infinity(&b)) secp256k1_gej_add_ge(&sum, &sum, &b);
    write_product(&sum);
}

/* Returns -A. */
void EXPORT(negate)(void) {
    secp256k1_ge a;
    read_point(&a, io.a);
    secp256k1_ge_neg(&a, &a);
    write_point(io.result, &a);
}

/* PUBLIC. Reads 33 bytes of SEC 1 at `text`. Returns 1 for a point in its one encoding, else 0. */
int EXPORT(parse)(void) {
    secp256k1_fe x;
    secp256k1_ge point;
    const unsigned char sign = io.text[0];
    if (sign != 2 && sign != 3) return 0;
    if (!secp256k1_fe_set_b32_limit(&x, io.text + 1)) return 0;
    if (!secp256k1_ge_set_xo_var(&point, &x, sign == 3)) return 0;
    write_point(io.result, &point);
    return 1;
}

/* Returns 1 when s is below the order, else 0. */
int EXPORT(isScalar)(void) {
    secp256k1_scalar s;
    int overflow;
    secp256k1_scalar_set_b32(&s, io.s, &overflow);
    return !overflow;
}

/* The next functions write a scalar to `s`. */

static void write_scalar(const secp256k1_scalar *s) { secp256k1_scalar_get_b32(io.s, s); }

/* Returns the 48 bytes at `text`, big-endian, reduced by the order. */
void EXPORT(reduceWide)(void) {
    /* 2^192 */
    static const secp256k1_scalar shift = SECP256K1_SCALAR_CONST(0, 1, 0, 0, 0, 0, 0, 0);
    unsigned char padded[32] = { 0 };
    secp256k1_scalar high, low;
    memcpy(padded + 8, io.text, 24);
    secp256k1_scalar_set_b32(&high, padded, NULL);
    memcpy(padded + 8, io.text + 24, 24);
    secp256k1_scalar_set_b32(&low, padded, NULL);
    secp256k1_scalar_mul(&high, &high, &shift);
    secp256k1_scalar_add(&high, &high, &low);
    write_scalar(&high);
}

/* Returns s t + r, where r is at `text`. */
void EXPORT(multiplyAdd)(void) {
    secp256k1_scalar s, t, r;
    secp256k1_scalar_set_b32(&s, io.s, NULL);
    secp256k1_scalar_set_b32(&t, io.t, NULL);
    secp256k1_scalar_set_b32(&r, io.text, NULL);
    secp256k1_scalar_mul(&s, &s, &t);
    secp256k1_scalar_add(&s, &s, &r);
    write_scalar(&s);
}

/* Returns -s. */
void EXPORT(negateScalar)(void) {
    secp256k1_scalar s;
    secp256k1_scalar_set_b32(&s, io.s, NULL);
    secp256k1_scalar_negate(&s, &s);
    write_scalar(&s);
}

/*
 * The vectors of the vector OLE (vole.ts), whose scalars have eight words, the least significant
 * first, as this build of the library keeps them. All scalars are below the order, where a function
 * does not say otherwise. Bit j of `bits` is bit j % 8 of byte j / 8.
 */
#define INSTANCES 416
#define WIDTH 4
#define CHECKS 2

static struct {
    secp256k1_scalar gadget[INSTANCES];
    secp256k1_scalar theta[2][CHECKS];
    secp256k1_scalar values[INSTANCES][WIDTH];
    secp256k1_scalar sums[2];
    secp256k1_scalar checks[INSTANCES][CHECKS];
    secp256k1_scalar others[INSTANCES][WIDTH];
    secp256k1_scalar addends[WIDTH];
    unsigned char bits[64];
} vole;

_Static_assert(sizeof(secp256k1_scalar) == 32, "a scalar has eight words and nothing else");

unsigned char *EXPORT(vectors)(void) { return (unsigned char *)&vole; }

/* Returns b s, for the bit j of `bits`. */
static secp256k1_scalar times_bit(int j, const secp256k1_scalar *s) {
    secp256k1_scalar product = secp256k1_scalar_zero;
    secp256k1_scalar_cmov(&product, s, (vole.bits[j >> 3] >> (j & 7)) & 1);
    return product;
}

/* Returns 1 when all of `others` are below the order, else 0. It reads all of them. */
int EXPORT(areScalars)(void) {
    int above = 0;
    for (int j = 0; j < INSTANCES; j++)
        for (int i = 0; i < WIDTH; i++) above |= secp256k1_scalar_check_overflow(&vole.others[j][i]);
    return !above;
}

/* Reduces `values`, which can be any numbers of 256 bits. */
void EXPORT(reduce)(void) {
    for (int j = 0; j < INSTANCES; j++)
        for (int i = 0; i < WIDTH; i++) {
            secp256k1_scalar *v = &vole.values[j][i];
            secp256k1_scalar_reduce(v, secp256k1_scalar_check_overflow(v));
        }
}

/* sums_0 = sum_j bit_j g_j. */
void EXPORT(select)(void) {
    vole.sums[0] = secp256k1_scalar_zero;
    for (int j = 0; j < INSTANCES; j++) {
        secp256k1_scalar term = times_bit(j, &vole.gadget[j]);
        secp256k1_scalar_add(&vole.sums[0], &vole.sums[0], &term);
    }
}

/* others_j,i = values_j,i - others_j,i + addends_i. */
void EXPORT(offset)(void) {
    for (int j = 0; j < INSTANCES; j++)
        for (int i = 0; i < WIDTH; i++) {
            secp256k1_scalar *other = &vole.others[j][i];
            secp256k1_scalar_negate(other, other);
            secp256k1_scalar_add(other, other, &vole.values[j][i]);
            secp256k1_scalar_add(other, other, &vole.addends[i]);
        }
}

/* values_j,i += bit_j others_j,i. */
void EXPORT(choose)(void) {
    for (int j = 0; j < INSTANCES; j++)
        for (int i = 0; i < WIDTH; i++) {
            secp256k1_scalar term = times_bit(j, &vole.others[j][i]);
            secp256k1_scalar_add(&vole.values[j][i], &vole.values[j][i], &term);
        }
}

/* checks_j,k -= bit_j addends_k. */
void EXPORT(correct)(void) {
    for (int j = 0; j < INSTANCES; j++)
        for (int k = 0; k < CHECKS; k++) {
            secp256k1_scalar term = times_bit(j, &vole.addends[k]);
            secp256k1_scalar_negate(&term, &term);
            secp256k1_scalar_add(&vole.checks[j][k], &vole.checks[j][k], &term);
        }
}

/*
 * A sum of products of scalars, at most 2^27 of them. Column k counts in units of 2^(32 k) and is
 * not carried before the end. A vector has two neighbouring columns. The product of a word i with
 * the words j and j + 1 (j even) begins at column i + j, so there is one set of vectors for even i
 * and one for odd i. Its upper halves belong one column higher, to the other set.
 */
struct columns {
    v128_t even[8]; /* columns 2m and 2m + 1 */
    v128_t odd[8];  /* columns 2m + 1 and 2m + 2; the last vector stays zero */
};

/* Adds the products of the word i of one factor with the words j and j + 1 of the other. */
static inline void add_pair(struct columns *sum, int i, int j, v128_t products) {
    const v128_t lower = wasm_v128_and(products, wasm_i64x2_const_splat(0xffffffff));
    const v128_t upper = wasm_u64x2_shr(products, 32);
    const int m = (i + j) >> 1;
    v128_t *first = i & 1 ? &sum->odd[m] : &sum->even[m];
    v128_t *next = i & 1 ? &sum->even[m + 1] : &sum->odd[m];
    *first = wasm_i64x2_add(*first, lower);
    *next = wasm_i64x2_add(*next, upper);
}

/* Adds a b to a sum. */
static inline void add_product(struct columns *sum, const secp256k1_scalar *a, const secp256k1_scalar *b) {
    const v128_t low = wasm_v128_load(&b->d[0]), high = wasm_v128_load(&b->d[4]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const v128_t word = wasm_u32x4_splat(a->d[i]);
        add_pair(sum, i, 0, wasm_u64x2_extmul_low_u32x4(low, word));
        add_pair(sum, i, 2, wasm_u64x2_extmul_high_u32x4(low, word));
        add_pair(sum, i, 4, wasm_u64x2_extmul_low_u32x4(high, word));
        add_pair(sum, i, 6, wasm_u64x2_extmul_high_u32x4(high, word));
    }
}

/* 2^512 modulo the order. */
static const secp256k1_scalar WRAP = SECP256K1_SCALAR_CONST(0x9d671cd5, 0x81c69bc5, 0xe697f5e4, 0x5bcd07c6, 0x741496c2, 0x0e7cf878, 0x896cf214, 0x67d7d140);

/* Writes the sum to sixteen words, the least significant first. Returns the word above them. */
static uint32_t carried(uint32_t *words, const struct columns *sum) {
    const uint64_t *even = (const uint64_t *)sum->even, *odd = (const uint64_t *)sum->odd;
    uint64_t carry = even[0];
    words[0] = (uint32_t)carry;
    for (int k = 1; k < 16; k++) {
        carry = (carry >> 32) + even[k] + odd[k - 1];
        words[k] = (uint32_t)carry;
    }
    return (uint32_t)(carry >> 32);
}

/*
 * sums_i = sum_j g_j v_j,i for the two inputs i, and check_j,k = v_j,2+k + sum_i theta_i,k v_j,i for
 * the two checks k. Only sums are reduced, not each product: a reduction costs as much as a product.
 */
void EXPORT(fold)(void) {
    struct columns sums[2] = { 0 };
    secp256k1_scalar wrap;
    uint32_t words[16], above;
    for (int j = 0; j < INSTANCES; j++) {
        const secp256k1_scalar *v = vole.values[j];
        for (int i = 0; i < 2; i++) add_product(&sums[i], &vole.gadget[j], &v[i]);
        for (int k = 0; k < CHECKS; k++) {
            struct columns sum = { 0 };
            secp256k1_scalar *check = &vole.checks[j][k];
            for (int i = 0; i < 2; i++) add_product(&sum, &vole.theta[i][k], &v[i]);
            above = carried(words, &sum);
            secp256k1_scalar_reduce_512(check, words);
            wrap = secp256k1_scalar_zero;
            /* Two products have at most one above. */
            secp256k1_scalar_cmov(&wrap, &WRAP, (int)above);
            secp256k1_scalar_add(check, check, &wrap);
            secp256k1_scalar_add(check, check, &v[2 + k]);
        }
    }
    for (int i = 0; i < 2; i++) {
        above = carried(words, &sums[i]);
        secp256k1_scalar_reduce_512(&vole.sums[i], words);
        secp256k1_scalar_set_int(&wrap, above);
        secp256k1_scalar_mul(&wrap, &wrap, &WRAP);
        secp256k1_scalar_add(&vole.sums[i], &vole.sums[i], &wrap);
    }
}

/*
 * Transposes the rows of the OT extension (ot-extension.ts): 128 rows of 32 words at `values` become
 * 624 vectors of 4 words at `others`. Bit i of vector j is bit j of row i. Hacker's Delight, figure
 * 7-6: a block of 32 x 32 bits swaps ever smaller off-diagonal blocks.
 */
#define ROW_WORDS 32
#define VECTORS 624
#define LANES 4

void EXPORT(transpose)(void) {
    const uint32_t *rows = vole.values[0][0].d;
    uint32_t *vectors = vole.others[0][0].d, block[32];
    for (int lane = 0; lane < LANES; lane++)
        for (int column = 0; 32 * column < VECTORS; column++) {
            for (int i = 0; i < 32; i++) block[i] = rows[(32 * lane + i) * ROW_WORDS + column];
            uint32_t mask = 0x0000ffff;
            for (int size = 16; size != 0; size >>= 1, mask ^= mask << size)
                for (int k = 0; k < 32; k = (k + size + 1) & ~size) {
                    uint32_t swap = ((block[k] >> size) ^ block[k + size]) & mask;
                    block[k + size] ^= swap;
                    block[k] ^= swap << size;
                }
            for (int j = 0; j < 32 && 32 * column + j < VECTORS; j++) vectors[(32 * column + j) * LANES + lane] = block[j];
        }
}

/* RFC 9380, section 8.7: the curve E' of the map, y^2 = x^3 + A x + B, and Z = -11. */
static const secp256k1_fe A = SECP256K1_FE_CONST(0x3f8731ab, 0xdd661adc, 0xa08a5558, 0xf0f5d272, 0xe953d363, 0xcb6f0e5d, 0x405447c0, 0x1a444533);
static const secp256k1_fe B = SECP256K1_FE_CONST(0, 0, 0, 0, 0, 0, 0, 1771);
/* -B / A, B / (Z A), and the square root of -Z^3. */
static const secp256k1_fe MINUS_B_BY_A = SECP256K1_FE_CONST(0x0bc56cee, 0x718538b2, 0xa00c4df5, 0xd3e87b0c, 0x6df4ff98, 0xe82d74fd, 0xaa01d58e, 0x8d2345c3);
static const secp256k1_fe B_BY_ZA = SECP256K1_FE_CONST(0xbb407e44, 0x38dd90ca, 0x6ba40716, 0x59152275, 0x7e5c173c, 0x7232ad8b, 0x6c8bcd97, 0xde490391);
static const secp256k1_fe ROOT = SECP256K1_FE_CONST(0x25e9711a, 0xe8c0dadc, 0x46fdbcb7, 0x2aadd8f4, 0x250b6507, 0x3012ec80, 0xbc6ecb9c, 0x12973975);

/* Appendix E.1: the coefficients of the 3-isogeny from E' to the curve, the constant first. */
static const secp256k1_fe X_NUMERATOR[4] = {
    SECP256K1_FE_CONST(0x8e38e38e, 0x38e38e38, 0xe38e38e3, 0x8e38e38e, 0x38e38e38, 0xe38e38e3, 0x8e38e38d, 0xaaaaa8c7),
    SECP256K1_FE_CONST(0x07d3d4c8, 0x0bc321d5, 0xb9f315ce, 0xa7fd44c5, 0xd595d2fc, 0x0bf63b92, 0xdfff1044, 0xf17c6581),
    SECP256K1_FE_CONST(0x534c328d, 0x23f234e6, 0xe2a413de, 0xca25caec, 0xe4506144, 0x037c4031, 0x4ecbd0b5, 0x3d9dd262),
    SECP256K1_FE_CONST(0x8e38e38e, 0x38e38e38, 0xe38e38e3, 0x8e38e38e, 0x38e38e38, 0xe38e38e3, 0x8e38e38d, 0xaaaaa88c),
};
static const secp256k1_fe X_DENOMINATOR[3] = {
    SECP256K1_FE_CONST(0xd3577119, 0x3d94918a, 0x9ca34ccb, 0xb7b640dd, 0x86cd4095, 0x42f8487d, 0x9fe6b745, 0x781eb49b),
    SECP256K1_FE_CONST(0xedadc6f6, 0x4383dc1d, 0xf7c4b2d5, 0x1b542254, 0x06d36b64, 0x1f5e41bb, 0xc52a5661, 0x2a8c6d14),
    SECP256K1_FE_CONST(0, 0, 0, 0, 0, 0, 0, 1),
};
static const secp256k1_fe Y_NUMERATOR[4] = {
    SECP256K1_FE_CONST(0x4bda12f6, 0x84bda12f, 0x684bda12, 0xf684bda1, 0x2f684bda, 0x12f684bd, 0xa12f684b, 0x8e38e23c),
    SECP256K1_FE_CONST(0xc75e0c32, 0xd5cb7c0f, 0xa9d0a54b, 0x12a0a6d5, 0x647ab046, 0xd686da6f, 0xdffc90fc, 0x201d71a3),
    SECP256K1_FE_CONST(0x29a61946, 0x91f91a73, 0x715209ef, 0x6512e576, 0x722830a2, 0x01be2018, 0xa765e85a, 0x9ecee931),
    SECP256K1_FE_CONST(0x2f684bda, 0x12f684bd, 0xa12f684b, 0xda12f684, 0xbda12f68, 0x4bda12f6, 0x84bda12f, 0x38e38d84),
};
static const secp256k1_fe Y_DENOMINATOR[4] = {
    SECP256K1_FE_CONST(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xfffffffe, 0xfffff93b),
    SECP256K1_FE_CONST(0x7a06534b, 0xb8bdb49f, 0xd5e9e663, 0x2722c298, 0x9467c1bf, 0xc8e8d978, 0xdfb425d2, 0x685c2573),
    SECP256K1_FE_CONST(0x6484aa71, 0x6545ca2c, 0xf3a70c3f, 0xa8fe337e, 0x0a3d2116, 0x2f0d6299, 0xa7bf8192, 0xbfd2a76f),
    SECP256K1_FE_CONST(0, 0, 0, 0, 0, 0, 0, 1),
};

/* Returns the polynomial at x, by Horner. The magnitude of the result is 1. */
static void evaluate(secp256k1_fe *result, const secp256k1_fe *coefficients, int count, const secp256k1_fe *x) {
    *result = coefficients[count - 1];
    for (int i = count - 2; i >= 0; i--) {
        secp256k1_fe_mul(result, result, x);
        secp256k1_fe_add(result, &coefficients[i]);
        secp256k1_fe_normalize_weak(result);
    }
}

/*
 * RFC 9380, section 6.6.2, map_to_curve_simple_swu, and section 6.6.3, the isogeny. Both candidates
 * for x have one square root between them: with c^2 = g(x1) or -g(x1), the root of g(x2), which is
 * Z^3 u^6 g(x1), is u^3 c times the root of -Z^3 in the second case.
 */
static void map_to_curve(secp256k1_ge *point, const secp256k1_fe *u) {
    secp256k1_fe zu2, tv1, x1, x2, gx, y1, y2, u3, check, one = SECP256K1_FE_CONST(0, 0, 0, 0, 0, 0, 0, 1);
    secp256k1_fe x_num, x_den, y_num, y_den, y_den2, z;
    secp256k1_gej image;
    int is_zero, is_first;
    /* tv1 = 1 / (Z^2 u^4 + Z u^2), and 0 for 0. */
    secp256k1_fe_sqr(&zu2, u);
    secp256k1_fe_mul_int(&zu2, 11);
    secp256k1_fe_negate(&zu2, &zu2, 11);
    secp256k1_fe_normalize(&zu2);
    secp256k1_fe_sqr(&tv1, &zu2);
    secp256k1_fe_add(&tv1, &zu2);
    secp256k1_fe_normalize(&tv1);
    is_zero = secp256k1_fe_is_zero(&tv1);
    secp256k1_fe_inv(&tv1, &tv1);
    /* x1 = (-B / A) (1 + tv1), or B / (Z A) where tv1 is 0. */
    secp256k1_fe_add(&tv1, &one);
    secp256k1_fe_mul(&x1, &tv1, &MINUS_B_BY_A);
    secp256k1_fe_cmov(&x1, &B_BY_ZA, is_zero);
    /* gx = x1^3 + A x1 + B */
    secp256k1_fe_sqr(&gx, &x1);
    secp256k1_fe_add(&gx, &A);
    secp256k1_fe_mul(&gx, &gx, &x1);
    secp256k1_fe_add(&gx, &B);
    secp256k1_fe_normalize(&gx);
    secp256k1_fe_mul(&x2, &zu2, &x1);
    is_first = secp256k1_fe_sqrt(&y1, &gx);
    secp256k1_fe_sqr(&u3, u);
    secp256k1_fe_mul(&u3, &u3, u);
    secp256k1_fe_mul(&y2, &y1, &u3);
    secp256k1_fe_mul(&y2, &y2, &ROOT);
    secp256k1_fe_cmov(&x2, &x1, is_first);
    secp256k1_fe_cmov(&y2, &y1, is_first);
    /* The sign of y is that of u. */
    check = *u;
    secp256k1_fe_normalize(&check);
    secp256k1_fe_normalize(&y2);
    secp256k1_fe_negate(&y1, &y2, 1);
    secp256k1_fe_normalize(&y1);
    secp256k1_fe_cmov(&y2, &y1, secp256k1_fe_is_odd(&check) ^ secp256k1_fe_is_odd(&y2));
    /* x_num / x_den and y y_num / y_den, with the Jacobian Z = x_den y_den. */
    evaluate(&x_num, X_NUMERATOR, 4, &x2);
    evaluate(&x_den, X_DENOMINATOR, 3, &x2);
    evaluate(&y_num, Y_NUMERATOR, 4, &x2);
    evaluate(&y_den, Y_DENOMINATOR, 4, &x2);
    secp256k1_fe_mul(&z, &x_den, &y_den);
    secp256k1_fe_sqr(&y_den2, &y_den);
    secp256k1_fe_mul(&image.x, &x_num, &x_den);
    secp256k1_fe_mul(&image.x, &image.x, &y_den2);
    secp256k1_fe_mul(&image.y, &y2, &y_num);
    secp256k1_fe_mul(&image.y, &image.y, &y_den2);
    secp256k1_fe_mul(&image.y, &image.y, &x_den);
    secp256k1_fe_sqr(&tv1, &x_den);
    secp256k1_fe_mul(&image.y, &image.y, &tv1);
    secp256k1_fe_normalize(&z);
    image.z = z;
    image.infinity = secp256k1_fe_is_zero(&z);
    secp256k1_ge_set_gej(point, &image);
}

/* Section 5.3.1, expand_message_xmd with SHA-256, to 96 bytes. */
static void expand_message(unsigned char *out, size_t message, size_t dst) {
    static const unsigned char zeros[64], length[3] = { 0, 96, 0 };
    const unsigned char *tag = io.text + message, tag_length = (unsigned char)dst;
    unsigned char first[32], block[32] = { 0 };
    secp256k1_sha256 hash;
    secp256k1_sha256_initialize(&hash);
    secp256k1_sha256_write(&hash, zeros, 64);
    secp256k1_sha256_write(&hash, io.text, message);
    secp256k1_sha256_write(&hash, length, 3);
    secp256k1_sha256_write(&hash, tag, dst);
    secp256k1_sha256_write(&hash, &tag_length, 1);
    secp256k1_sha256_finalize(&hash, first);
    for (unsigned char i = 1; i <= 3; i++) {
        for (int k = 0; k < 32; k++) block[k] ^= first[k];
        secp256k1_sha256_initialize(&hash);
        secp256k1_sha256_write(&hash, block, 32);
        secp256k1_sha256_write(&hash, &i, 1);
        secp256k1_sha256_write(&hash, tag, dst);
        secp256k1_sha256_write(&hash, &tag_length, 1);
        secp256k1_sha256_finalize(&hash, block);
        memcpy(out + 32 * (i - 1), block, 32);
    }
}

/* Section 5.2, hash_to_field: 48 bytes, big-endian, modulo p. */
static void reduce_field(secp256k1_fe *result, const unsigned char *bytes) {
    /* 2^192 */
    static const secp256k1_fe shift = SECP256K1_FE_CONST(0, 1, 0, 0, 0, 0, 0, 0);
    unsigned char padded[32] = { 0 };
    secp256k1_fe low;
    memcpy(padded + 8, bytes, 24);
    secp256k1_fe_set_b32_mod(result, padded);
    memcpy(padded + 8, bytes + 24, 24);
    secp256k1_fe_set_b32_mod(&low, padded);
    secp256k1_fe_mul(result, result, &shift);
    secp256k1_fe_add(result, &low);
    secp256k1_fe_normalize(result);
}

/*
 * RFC 9380, section 3, hash_to_curve of secp256k1_XMD:SHA-256_SSWU_RO_: the message is at `text`,
 * and its DST, of at most 255 bytes, follows.
 */
void EXPORT(hashToCurve)(size_t message, size_t dst) {
    unsigned char uniform[96];
    secp256k1_fe u;
    secp256k1_ge first, second;
    secp256k1_gej sum;
    expand_message(uniform, message, dst);
    reduce_field(&u, uniform);
    map_to_curve(&first, &u);
    reduce_field(&u, uniform + 48);
    map_to_curve(&second, &u);
    secp256k1_gej_set_ge(&sum, &first);
    if (!secp256k1_ge_is_infinity(&second)) secp256k1_gej_add_ge(&sum, &sum, &second);
    write_product(&sum);
}
