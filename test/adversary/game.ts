import { bytesToHex } from '@noble/hashes/utils.js';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { policy as byToken } from '../domain/cast.ts';
import { present } from '../chains/evm/cast.ts';
import { clock, START_MS } from './clock.ts';
import { Coordinator } from './coordinator.ts';
import { groupOf, HonestCosigner } from './cosigner.ts';
import { LIES } from './moves.ts';
import { Oracle } from './oracle.ts';
import { People } from './people.ts';
import { judgeShares } from './epochs.ts';
import { keyGeneration } from './policies.ts';
import { Chance } from './random.ts';
import { Signers } from './signer.ts';
import type { World } from './world.ts';

export interface Verdict {
  readonly faults: readonly string[];
  readonly trace: readonly string[];
  /**
   * The number of signatures that some network accepts, honest ones included. Games without any
   * would prove nothing.
   */
  readonly signatures: number;
}

/**
 * The group sizes in the documents (t of n), each with its share of the games. The rule for each
 * size is the one that `vault create` writes.
 */
const SIZES = [
  { threshold: 2, count: 3, weight: 50 },
  { threshold: 3, count: 4, weight: 30 },
  { threshold: 3, count: 5, weight: 20 },
] as const;

const MOVES = 20;

/**
 * Plays the game of a seed. All randomness comes from the seed, so the same seed gives the same
 * game.
 */
export async function play(seed: number): Promise<Verdict> {
  clock.nowMs = START_MS;
  const trace: string[] = [];
  const chance = new Chance(seed);
  const world = await newWorld(chance, (words) => trace.push(words));
  try {
    await keyGeneration(world);
    for (let move = 0; move < MOVES && world.oracle.faults.length === 0; move++) {
      const lie = weighted(chance, LIES);
      await lie.play(world);
    }
    await judgeShares(world);
    return { faults: world.oracle.faults, trace, signatures: world.oracle.effective };
  } finally {
    for (const one of world.honest.values()) one.close();
  }
}

async function newWorld(chance: Chance, say: (words: string) => void): Promise<World> {
  const { threshold, count } = weighted(chance, SIZES);
  const group = await groupOf(threshold, count);
  // Fewer than t co-signers are hostile. For each number of them the oracle requires only the
  // sign-once guarantee that the documents give.
  const hostileCount = chance.percent(25) ? chance.upTo(threshold) : threshold - 1;
  const hostileParties = new Set(chance.some(group.parties, hostileCount));
  const { signOnce } = defaultRules('device', { threshold, count });
  const pins = chance.percent(30) ? group.pins : null;
  const people = new People({ ...firstPolicy(signOnce, pins), signingThreshold: threshold });
  const signers = new Signers(group);
  const truth = { threshold, count, hostile: hostileParties, publicKey: bytesToHex(group.key.publicKey) };
  const oracle = new Oracle(truth, people.digests);
  const honest = new Map<PartyIndex, HonestCosigner>();
  const hostile = new Map<PartyIndex, CosignerSet>();
  for (const one of group.parties) {
    if (hostileParties.has(one)) hostile.set(one, present(group.memberships.get(one)));
    else honest.set(one, new HonestCosigner(group, one));
  }
  say(`${threshold} of ${count} co-signers, ${signOnce}; hostile: ${[...hostile.keys()].join(', ') || 'none'}`);
  const coordinator = new Coordinator(chance, oracle, group.key.publicKey);
  return { chance, group, honest, hostile, people, signers, oracle, coordinator, say };
}

/** @param pins the co-signer pins in the policy; null for a policy without pins */
function firstPolicy(signOnce: 'every-cosigner' | 'quorum', pins: readonly CosignerPin[] | null): Policy {
  return {
    ...byToken,
    approvalMode: 'device',
    devices: People.firstDevices(),
    rules: { ...byToken.rules, signOnce, limitsIncludeFees: true },
    ...(pins === null ? {} : { cosigners: pins }),
  };
}

function weighted<T extends { readonly weight: number }>(chance: Chance, choices: readonly T[]): T {
  let left = chance.upTo(choices.reduce((sum, { weight }) => sum + weight, 0));
  for (const choice of choices) {
    left -= choice.weight;
    if (left < 0) return choice;
  }
  throw new Error('there is nothing to choose from');
}
