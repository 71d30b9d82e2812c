import { afterAll, beforeAll, expect, test } from 'vitest';
import { recoverySecretOf } from '#cli/recovery/key-file.ts';
import { recovered } from '#cli/recovery/open.ts';
import { verifiedPackages } from '#cli/recovery/verify.ts';
import { signingKeysIn } from '#cli/peers-file.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { minSigners } from '#mpc/party.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import type { Recovery } from '../attacks/recovery-scene.ts';
import { addressOf, CHAIN, startRecovery } from '../attacks/recovery-scene.ts';
import type { DealtKey } from '../mpc/dealt-key.ts';
import { party } from '../mpc/dealt-key.ts';

/**
 * Plays games about recovery: the coordinator and fewer co-signers than sign together choose what
 * the keepers get. RECOVERY_GAMES and SEED set their number and the first one.
 */

const GAMES = Number.parseInt(process.env['RECOVERY_GAMES'] ?? '', 10) || 40;
const SEED = Number.parseInt(process.env['SEED'] ?? '', 10) || 1;
const SIZES = [3, 4, 5];

const recoveries = new Map<number, Recovery>();
beforeAll(async () => {
  for (const size of SIZES) recoveries.set(size, await startRecovery(size, minSigners(size)));
});
afterAll(async () => {
  for (const recovery of recoveries.values()) await recovery.stop();
});

/** The keys of one game: the true one in two epochs, and another one of the attacker. */
interface Keys {
  readonly old: DealtKey;
  readonly present: DealtKey;
  readonly other: DealtKey;
}

type Draw = <T>(of: readonly [T, ...T[]]) => T;

/** Returns what one hostile co-signer exports, signed by its own identity. */
async function lieOf(node: number, recovery: Recovery, keys: Keys, draw: Draw): Promise<readonly RecoveryPackage[]> {
  const { present, other } = keys;
  const [honest] = await recovery.exportedShares([recovery.shareOf(present, node, 2)]);
  if (honest === undefined) throw new Error('a co-signer gives one package');
  const point = other.publicShares.get(party(node)) ?? new Uint8Array();
  const changed = (change: Partial<RecoveryPackage>) => [recovery.signed({ ...honest, ...change })];
  const sealed = (share: Partial<ReturnType<Recovery['shareOf']>>) =>
    recovery.exportedShares([{ ...recovery.shareOf(present, node, 2), ...share }]);
  const foreign = recovery.shareOf(other, node, 2);
  const lies: readonly [() => Promise<readonly RecoveryPackage[]>, ...(() => Promise<readonly RecoveryPackage[]>)[]] = [
    async () => [],
    async () => [honest, honest],
    async () => changed({ recoveryKey: recovery.recoveryKeys[node % recovery.recoveryKeys.length] ?? '' }),
    async () => changed({ ciphertext: '00'.repeat(48) }),
    async () => changed({ threshold: draw([0, 1, 2, 3, 4, 5]) }),
    async () => changed({ epoch: draw([1, 3, 9]) }),
    async () => changed({ node: (node % recovery.recoveryKeys.length) + 1 }),
    async () => changed({ scheme: 'frost-ed25519' }),
    async () => [{ ...honest, signature: '00'.repeat(64) }],
    // A false share under the true terms, under terms that fit it, and under terms of its own.
    () => sealed({ secret: foreign.secret }),
    () => sealed({ secret: foreign.secret, publicShares: new Map(present.publicShares).set(party(node), point) }),
    () => sealed({ ...foreign, keyId: honest.keyId }),
    () => recovery.exportedShares([foreign]),
    () => sealed({ publicKey: other.publicKey }),
  ];
  return draw(lies)();
}

test(`no wallet of an attacker is recovered, and no honest quorum is lost, in ${GAMES} games`, async () => {
  let verified = 0;
  for (let seed = SEED; seed < SEED + GAMES; seed++) {
    const random = seededRandom(seed);
    const draw: Draw = (of) => of[Math.floor(random() * of.length)] ?? of[0];
    const size = draw([3, 4, 5]);
    const recovery = recoveries.get(size);
    if (recovery === undefined) throw new Error('each size has co-signers');
    const threshold = minSigners(size);
    const old = recovery.deal();
    const keys: Keys = { old, present: recovery.deal(old.secretKey), other: recovery.deal() };
    const nodes = Array.from({ length: size }, (_, i) => i + 1).toSorted(() => random() - 0.5);
    const liars = nodes.slice(0, Math.floor(random() * threshold));
    const packages: RecoveryPackage[] = [];
    const given = new Map<number, number>();
    for (const node of nodes) {
      if (liars.includes(node)) packages.push(...(await lieOf(node, recovery, keys, draw)));
      else if (random() < 0.9) {
        // The coordinator may keep an answer of the time before the refresh, or give both.
        const epochs = draw([[2], [2], [2], [1], [1, 2]] as const);
        for (const epoch of epochs) {
          const share = recovery.shareOf(epoch === 1 ? old : keys.present, node, epoch);
          packages.push(...(await recovery.exportedShares([share])));
          given.set(epoch, (given.get(epoch) ?? 0) + 1);
        }
      }
    }
    const shuffled = packages.toSorted(() => random() - 0.5);
    const address = addressOf(old);
    const signingKeys = signingKeysIn(recovery.peersFile);
    const secrets = recovery.keyFiles.map(recoverySecretOf);
    const terms = { chains: [CHAIN], signingKeys };
    const opened = await recovered(secrets, shuffled, terms);
    const expected = await recovered(secrets, shuffled, { ...terms, addresses: [address] });
    const found = [...opened.wallets, ...expected.wallets].filter((one) => one.address !== address);
    expect([seed, 'strange wallets', found]).toEqual([seed, 'strange wallets', []]);
    const isQuorum = [...given.values()].some((count) => count >= threshold);
    const isFound = expected.wallets.some((one) => one.address === address);
    if (isQuorum) expect([seed, 'found', isFound]).toEqual([seed, 'found', true]);
    const recoveryKeys = new Map(recovery.recoveryKeys.map((key, i) => [i + 1, key]));
    const wallets = { chains: [CHAIN], addresses: [address] };
    const { faults } = verifiedPackages(shuffled, { signingKeys, recoveryKeys, wallets });
    // An export passes only with one package of each co-signer, all of one epoch. Without the
    // secrets of the keepers a false share is not seen.
    if (faults.length === 0) {
      const honest = nodes.length - liars.length;
      expect([seed, 'verified', [...given.values()]]).toEqual([seed, 'verified', [honest]]);
      verified++;
    }
  }
  // The games have right exports and lost ones.
  expect(verified).toBeGreaterThan(0);
  expect(verified).toBeLessThan(GAMES);
}, 600_000);
