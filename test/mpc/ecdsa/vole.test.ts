import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { gadget } from '#mpc/ecdsa/gadget.ts';
import { extendAsSender } from '#mpc/ecdsa/ot-extension.ts';
import { answerAsAlice, beginAsBob, type BobState, finishAsBob, type Reply } from '#mpc/ecdsa/vole.ts';
import { modOrder, ORDER } from '#curve/scalar.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import { dealPair, party } from '../dealt-key.ts';
import { randomScalar, valueOf } from '../secret-values.ts';
import { addSecrets } from '#mpc/secret-scalar.ts';

const [bob, alice] = dealPair(party(1), party(2));

function play(inputs: readonly [bigint, bigint]) {
  const sid = randomBytes(32);
  const { b, message, state } = beginAsBob(sid, bob.asBob);
  const extension = extendAsSender(sid, alice.asAlice, message);
  if (extension === null) throw new Error('the honest extension failed');
  const secrets = [SECRETS.of(inputs[0]), SECRETS.of(inputs[1])] as const;
  const { c, reply } = answerAsAlice(sid, alice.asAlice, { inputs: secrets, extension });
  return { b: valueOf(b), state, c: c.map(valueOf), reply };
}

/** Copies a state of Bob, because finishAsBob wipes the state that it uses. */
function copyOf(state: BobState): BobState {
  return { ...state, choices: state.choices.slice(), vectors: state.vectors.slice() };
}

test('c_i + d_i = a_i b holds for random inputs and for edge cases', () => {
  const corners = [
    [0n, 0n],
    [1n, ORDER - 1n],
    [0n, 1n],
  ] as const;
  for (const inputs of [
    ...corners,
    [randomScalar(), randomScalar()] as const,
    [randomScalar(), randomScalar()] as const,
  ]) {
    const { b, state, c, reply } = play(inputs);
    const d = finishAsBob(state, reply)?.map(valueOf);
    expect([0, 1].map((i) => modOrder(c[i]! + (d?.[i] ?? 0n)))).toEqual(inputs.map((a) => modOrder(a * b)));
  }
});

test('b differs from session to session, and so do the shares', () => {
  const inputs = [5n, 7n] as const;
  const [first, second] = [play(inputs), play(inputs)];
  expect(first.b).not.toBe(second.b);
  expect(first.c).not.toEqual(second.c);
});

test('a reply with one changed value is refused, whichever kind of value it is', () => {
  const { state, reply } = play([randomScalar(), randomScalar()]);
  const bump = (words: Uint32Array, at: number): Uint32Array => words.map((word, i) => (i === at ? word ^ 1 : word));
  const forged: Reply[] = [
    { ...reply, eta: [addSecrets(SECRETS, reply.eta[0]!, SECRETS.of(1n)), reply.eta[1]!] },
    { ...reply, eta: [reply.eta[0]!, addSecrets(SECRETS, reply.eta[1]!, SECRETS.of(1n))] },
    { ...reply, mu: reply.mu.map((byte, i) => (i === 31 ? byte ^ 1 : byte)) },
    ...[0, 8, 16, 24, 32 * 200 + 5, 416 * 32 - 1].map((at) => ({ ...reply, tau: bump(reply.tau, at) })),
  ];
  for (const message of forged) expect(finishAsBob(copyOf(state), message)).toBeNull();
  expect(finishAsBob(copyOf(state), reply)).not.toBeNull();
});

test('a reply of an Alice who uses another input in half of the instances is refused', () => {
  const { state, reply } = play([5n, 7n]);
  const tau = reply.tau.slice();
  // Adds 1 to a_0 in the instances from 208 on; all other values are honest.
  for (let j = 208; j < 416; j++) tau[j * 32]! += tau[j * 32] === 0xffffffff ? 0 : 1;
  expect(finishAsBob(state, { ...reply, tau })).toBeNull();
});

test("Bob's choice bits are wiped once he has finished", () => {
  const { state, reply } = play([5n, 7n]);
  finishAsBob(state, reply);
  expect(state.choices.every((byte) => byte === 0)).toBe(true);
  expect(state.vectors.every((word) => word === 0)).toBe(true);
});

test('the gadget is 416 scalars, which are the same at every call', () => {
  expect(gadget()).toHaveLength(416);
  expect(gadget()).toBe(gadget());
  expect(new Set(gadget()).size).toBe(416);
  expect(gadget().every((scalar) => scalar > 0n && scalar < ORDER)).toBe(true);
});
