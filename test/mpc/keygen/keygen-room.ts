import { randomBytes } from '@noble/hashes/utils.js';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Abort } from '#mpc/abort.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { commit } from '#mpc/keygen/commit.ts';
import { confirm } from '#mpc/keygen/confirm.ts';
import { distribute } from '#mpc/keygen/distribute.ts';
import type { Resharing } from '#mpc/keygen/resharing.ts';
import { partOf, partsOf } from '#mpc/keygen/resharing.ts';
import { reveal } from '#mpc/keygen/reveal.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { party } from '../dealt-key.ts';

type Mail = Map<PartyIndex, Map<PartyIndex, Uint8Array>>;
export type Round = 'commit' | 'reveal' | 'distribute';

export interface Tampering {
  /** Changes one message between its sender and its receiver; the message is a copy. */
  readonly at: Round;
  readonly from: PartyIndex;
  readonly to: PartyIndex;
  readonly change: (message: Uint8Array, mail: Mail) => Uint8Array | null;
}

interface Outcome {
  readonly shares: ReadonlyMap<PartyIndex, KeyShare>;
  readonly statements: ReadonlyMap<PartyIndex, Uint8Array>;
  readonly aborts: ReadonlyMap<PartyIndex, Abort>;
  /** Every message in clear to all parties: the most that a relay without keys can read. */
  readonly published: readonly Uint8Array[];
}

/** A refresh of an existing key: the dealers, and the old shares of the parties that have one. */
export interface Handover {
  readonly old: ReadonlyMap<PartyIndex, KeyShare>;
  readonly dealers: readonly PartyIndex[];
  readonly epoch: number;
}

interface Story {
  readonly scheme?: KeyScheme;
  readonly handover?: Handover;
  readonly tampering?: Tampering | null;
  readonly sid?: Uint8Array;
}

interface Size {
  readonly n: number;
  readonly threshold: number;
}

/** Runs a whole key generation among honest code, with one changed message where requested. */
export function generate(n: number, threshold: number, story: Story = {}): Outcome {
  return inGroupOf(story.scheme ?? 'ecdsa-secp256k1', (group) => generateIn(group, { n, threshold, ...story }));
}

function generateIn<P extends GroupPoint<P>>(
  group: Group<P>,
  { n, threshold, scheme = 'ecdsa-secp256k1', handover, tampering = null, sid = randomBytes(32) }: Story & Size,
): Outcome {
  const parties = Array.from({ length: n }, (_, i) => party(i + 1));
  const aborts = new Map<PartyIndex, Abort>();
  const published: Uint8Array[] = [];

  const deliver = (round: Round, mail: Mail): Mail => {
    for (const messages of mail.values()) for (const message of messages.values()) published.push(message);
    if (tampering?.at !== round) return mail;
    const sent = mail.get(tampering.from)?.get(tampering.to);
    if (sent === undefined) throw new Error('there is no such message');
    const changed = tampering.change(Uint8Array.from(sent), mail);
    if (changed === null) mail.get(tampering.from)?.delete(tampering.to);
    else mail.get(tampering.from)?.set(tampering.to, changed);
    return mail;
  };
  const inboxOf = (self: PartyIndex, mail: Mail) =>
    new Map(
      [...mail].flatMap(([from, messages]) => {
        const message = messages.get(self);
        return message === undefined ? [] : [[from, message] as const];
      }),
    );
  const toAll = (self: PartyIndex, message: Uint8Array) =>
    new Map(parties.filter((one) => one !== self).map((peer) => [peer, message]));

  const resharing = handover === undefined ? null : resharingIn(group, handover);
  const first = new Map(
    parties.map((self) => {
      const session = { scheme, group, sid, self, parties, threshold };
      return [self, commit(resharing === null ? session : { ...session, resharing: resharing(self) })];
    }),
  );
  const commitments = deliver('commit', new Map([...first].map(([self, { message }]) => [self, toAll(self, message)])));

  const second = new Map(
    [...first].flatMap(([self, { state }]) => {
      const round = reveal(state, inboxOf(self, commitments));
      if (!round.ok) aborts.set(self, round.abort);
      return round.ok ? [[self, round.value] as const] : [];
    }),
  );
  const openings = deliver('reveal', new Map([...second].map(([self, { message }]) => [self, toAll(self, message)])));

  const third = new Map(
    [...second].flatMap(([self, { state }]) => {
      const round = distribute(state, inboxOf(self, openings));
      if (!round.ok) aborts.set(self, round.abort);
      return round.ok ? [[self, round.value] as const] : [];
    }),
  );
  published.length = commitments.size * (n - 1) + openings.size * (n - 1);
  const values = deliver('distribute', new Map([...third].map(([self, { messages }]) => [self, new Map(messages)])));
  published.length = commitments.size * (n - 1) + openings.size * (n - 1);

  const shares = new Map<PartyIndex, KeyShare>();
  const statements = new Map<PartyIndex, Uint8Array>();
  for (const [self, { state }] of third) {
    const round = confirm(state, inboxOf(self, values));
    if (!round.ok) {
      aborts.set(self, round.abort);
      continue;
    }
    shares.set(self, round.value.state.take().share);
    statements.set(self, round.value.statement);
  }
  return { shares, statements, aborts, published };
}

function resharingIn<P extends GroupPoint<P>>(group: Group<P>, { old, dealers, epoch }: Handover) {
  const publicShares = [...old.values()][0]?.publicShares;
  const points = publicShares === undefined ? null : partsOf(group, publicShares, dealers);
  if (points === null) throw new Error('a party knows the old shares');
  return (self: PartyIndex): Resharing<P> => {
    const share = old.get(self);
    return {
      dealers,
      epoch,
      points,
      part: share === undefined || !dealers.includes(self) ? null : partOf(group, share, dealers),
    };
  };
}

/**
 * Returns the public key of the secret that these shares determine, by Lagrange interpolation at
 * zero.
 */
export function interpolated(shares: readonly KeyShare[]): Uint8Array {
  return inGroupOf(shares[0]!.scheme, (group) => {
    const mod = (value: bigint) => ((value % group.order) + group.order) % group.order;
    const inverse = (value: bigint) => {
      let [result, base, exponent] = [1n, value, group.order - 2n];
      for (; exponent > 0n; exponent >>= 1n, base = mod(base * base)) if (exponent & 1n) result = mod(result * base);
      return result;
    };
    const secret = shares.reduce((sum, { self, secret: share }) => {
      const value = group.parseScalar(group.secrets.reveal(share)) ?? 0n;
      const others = shares.map((one) => BigInt(one.self)).filter((x) => x !== BigInt(self));
      const top = others.reduce((product, x) => mod(product * x), 1n);
      const bottom = others.reduce((product, x) => mod(product * (x - BigInt(self))), 1n);
      return mod(sum + value * top * inverse(bottom));
    }, 0n);
    return group.encodePoint(group.multiplyPublic(group.generator, secret));
  });
}

export function groups<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return items.flatMap((item, i) => groups(items.slice(i + 1), size - 1).map((rest) => [item, ...rest]));
}
