import { gadgetWords } from '#mpc/ecdsa/gadget.ts';
import {
  extendAsReceiver,
  type ExtensionMessage,
  otherChoice,
  padsOf,
  type ReceiverSeeds,
  type SenderExtension,
  type SenderSeeds,
} from '#mpc/ecdsa/ot-extension.ts';
import { CHECKS, INPUTS } from '#mpc/ecdsa/parameters.ts';
import { secretAt, WORDS, wordsOf, wordsOfSecret } from '#mpc/ecdsa/scalar-words.ts';
import { scalarFromDigest, SECRETS } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';
import { chosen, corrected, fold, offset, selected } from '#curve/vectors.ts';

/**
 * The random vector OLE of DKLs23 (Protocol 5.2) in two messages. Bob gets a random b; Alice gives
 * a = (a_0, a_1); they end with c (Alice) and d (Bob) where c_i + d_i = a_i b. Every oracle is
 * bound to `sid`, which names the session, the pair set-up and the direction: a reused sid would
 * repeat the pads.
 *
 * It realises Functionality 3.5 (RVOLE), with the multiplication of a vector of length 2. The step
 * numbers of Protocol 5.2 in this file were not checked against the text:
 * docs/adr/protocol-departures.md.
 */
export interface Reply {
  /** a~: 416 x 4 scalars, in words. All are below n (the parser checks it). */
  readonly tau: Uint32Array;
  readonly eta: readonly SecretScalar[];
  readonly mu: Uint8Array;
}

export interface BobState {
  readonly sid: Uint8Array;
  readonly transcript: Uint8Array;
  readonly choices: Uint8Array;
  readonly vectors: Int32Array;
}

/** Protocol 5.2, Bob, steps 1 and 2: beta random (by the OT extension), b = <g, beta>. */
export function beginAsBob(
  sid: Uint8Array,
  seeds: ReceiverSeeds,
): { b: SecretScalar; message: ExtensionMessage; state: BobState } {
  // beta, and the message of the extension for Alice.
  const { message, ...kept } = extendAsReceiver(sid, seeds);
  // b, the random output that Functionality 3.5 gives to Bob when he samples.
  const sum = selected(gadgetWords(), kept.choices);
  const b = secretAt(sum, 0);
  sum.fill(0);
  return { b, message, state: { sid, ...kept } };
}

/**
 * Returns Alice's message and state, Protocol 5.2, steps 3 to 5. The extension has passed its check
 * (`extendAsSender`) and is used up.
 *
 * Step 3: a^ random in Z_q^rho; a~_j = alpha0_j - alpha1_j + (a || a^), c_i = - sum_j g_j
 * alpha0_j,i. Step 4: theta = H(sid, a~); eta_k = a^_k + sum_i theta_i,k a_i; mu = H(alpha0_j,l+k +
 * sum_i theta_i,k alpha0_j,i).
 */
export function answerAsAlice(
  sid: Uint8Array,
  { delta }: Pick<SenderSeeds, 'delta'>,
  {
    inputs,
    extension,
  }: { readonly inputs: readonly [SecretScalar, SecretScalar]; readonly extension: SenderExtension },
): { c: readonly [SecretScalar, SecretScalar]; reply: Reply } {
  const { vectors: q, transcript } = extension;
  // The output of the OT extension: alpha0 and alpha1 of each instance.
  const other = otherChoice(q, delta);
  const zeros = padsOf(sid, q);
  const ones = padsOf(sid, other);
  // Step 3: a^, and the corrections a~ that turn the random OTs into products with a and a^.
  const sacrificed = [SECRETS.random(), SECRETS.random()];
  const addends = [...inputs, ...sacrificed].map(wordsOfSecret);
  const tau = offset(zeros, ones, addends);
  // Step 4: the challenges theta, and eta, the claimed combination of Alice's inputs.
  const theta = thetaOf(sid, transcript, tau);
  const eta = sacrificed.map((value, k) => {
    const [first, second] = [SECRETS.of(theta[k]![0]), SECRETS.of(theta[k]![1])];
    return SECRETS.multiplyAdd(second, inputs[1], SECRETS.multiplyAdd(first, inputs[0], value));
  });
  // Step 3: -c, the sum over the gadget. Step 4: mu, the same combination of the pads.
  const { sums, checks } = folded(zeros, theta);
  const mu = muOf(sid, checks);
  // Ours: the pads and the sacrificed inputs are of no further use.
  for (const secret of [q, other, zeros, ones, ...addends]) secret.fill(0);
  for (const secret of sacrificed) secret.wipe();
  return { c: [SECRETS.negate(sums[0]), SECRETS.negate(sums[1])], reply: { tau, eta, mu } };
}

/**
 * Protocol 5.2, Bob, steps 6 and 7: d, or null when the check on mu fails. NULL MEANS BAN.
 *
 * Step 6: d._j = gamma_j + beta_j a~_j; mu' = H(d._j,l+k + sum_i theta_i,k d._j,i - beta_j eta_k)
 * must be mu. Step 7: d_i = sum_j g_j d._j,i.
 */
export function finishAsBob(
  { sid, transcript, choices, vectors }: BobState,
  reply: Reply,
): readonly [SecretScalar, SecretScalar] | null {
  // Step 6: the pads gamma of the choices, corrected by a~ where beta is 1.
  const pads = padsOf(sid, vectors);
  const shares = chosen(pads, reply.tau, choices);
  // Step 6: theta of the received a~, and the values of the check. Step 7: d, the sum over the
  // gadget.
  const theta = thetaOf(sid, transcript, reply.tau);
  const { sums, checks } = folded(shares, theta);
  // Step 6: take beta eta off, and compare the hash with mu.
  const etas = reply.eta.map(wordsOfSecret);
  const mu = muOf(sid, corrected(checks, etas, choices));
  for (const secret of [pads, shares, checks, choices, vectors, ...etas]) secret.fill(0);
  return equalBytes(mu, reply.mu) ? sums : null;
}

/** theta_k = (theta_0,k, theta_1,k) for each check k. */
type Theta = readonly (readonly [bigint, bigint])[];

/**
 * Step 4 (and 6): theta = H(sid, Bob's message, a~). Alice cannot know it before a~ is fixed. Ours:
 * it binds Bob's message too.
 */
function thetaOf(sid: Uint8Array, transcript: Uint8Array, tau: Uint32Array): Theta {
  const bound = taggedHash(
    'ecdsa/vole/tau',
    sid,
    transcript,
    new Uint8Array(tau.buffer, tau.byteOffset, tau.byteLength),
  );
  const theta: (readonly [bigint, bigint])[] = [];
  for (let k = 0; k < CHECKS; k++) {
    const challenge = (i: number): bigint =>
      scalarFromDigest(taggedHash('ecdsa/vole/theta', bound, Uint8Array.of(i, k)));
    theta.push([challenge(0), challenge(1)]);
  }
  return theta;
}

/**
 * Both sides' sums: sum_j g_j v_j,i for the inputs, and the check values v_j,l+k + sum_i theta_i,k
 * v_j,i. All v are below n.
 */
function folded(
  values: Uint32Array,
  theta: Theta,
): { sums: readonly [SecretScalar, SecretScalar]; checks: Uint32Array } {
  const challenges = new Uint32Array(INPUTS * CHECKS * WORDS);
  for (const [k, pair] of theta.entries()) {
    for (const [i, challenge] of pair.entries()) challenges.set(wordsOf(challenge), (i * CHECKS + k) * WORDS);
  }
  const { sums, checks } = fold(gadgetWords(), challenges, values);
  const inputs = [secretAt(sums, 0), secretAt(sums, WORDS)] as const;
  sums.fill(0);
  return { sums: inputs, checks };
}

/** Step 4 (and 6): mu = H(sid, all check values). The check values are cleared. */
function muOf(sid: Uint8Array, checks: Uint32Array): Uint8Array {
  const mu = taggedHash('ecdsa/vole/mu', sid, new Uint8Array(checks.buffer));
  checks.fill(0);
  return mu;
}
