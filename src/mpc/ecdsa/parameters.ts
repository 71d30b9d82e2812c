/**
 * The parameters of DKLs23 (eprint 2023/765) for secp256k1, with the names of its Protocol 5.2.
 *
 * kappa = 256 bits of the group order, lambda_c = 128 (computational; the curve itself gives no
 * more), lambda_s = 80 (statistical, as in the authors' mpecdsa and in 0xCarbon/DKLs23).
 */

/**
 * Base OTs per direction: lambda_c columns, SoftSpokenOT with k = 1 (eprint 2022/192), which is
 * KOS15 as corrected.
 */
export const BASE_OTS = 128;

/** 32-bit words that hold one bit per base OT. */
export const LANES = BASE_OTS / 32;

/**
 * xi = kappa + 2 lambda_s = 416: OT instances of one vector OLE; the excess hides b when a cheater
 * learns lambda_s bits.
 */
export const OT_INSTANCES = 416;

/**
 * KOS15 figure 10: the check is in GF(2^208), lambda_c + lambda_s bits because Fiat-Shamir
 * challenges can be ground offline.
 */
export const CHECK_BITS = 208;

/** An element of it: least significant bit first, packed. */
export const ELEMENT_BYTES = CHECK_BITS / 8;

/** Sacrificed OT instances that mask the check values, one field element. */
export const EXTENDED_INSTANCES = OT_INSTANCES + CHECK_BITS;

/**
 * l = 2: the inputs of a signer to one vector OLE, its nonce share and its key share (Protocol
 * 3.6).
 */
export const INPUTS = 2;

/**
 * rho = ceil(kappa / lambda_c) = 2: random check inputs of the vector OLE (so also in
 * bronlabs/bron-crypto). One challenge of 256 bits would already leave a cheater a chance of 2^-239
 * per attempt; the second is the paper's margin.
 */
export const CHECKS = 2;

/** Pads per OT instance. */
export const WIDTH = INPUTS + CHECKS;
