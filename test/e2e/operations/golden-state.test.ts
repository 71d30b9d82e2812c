import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { address } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import type { Client, TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { recoverySecretOf } from '#cli/recovery/key-file.ts';
import { recovered } from '#cli/recovery/open.ts';
import { chainFault } from '#cli/verify-history.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { pinsOfStack } from '#local/stack/stack-pins.ts';
import type { Stack } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { party } from '../../mpc/dealt-key.ts';
import type { OpenGolden } from '../../states/golden-state.ts';
import { clientOf, goldenReleases, openGolden, RECOVERY_KEYS, serviceOf } from '../../states/golden-state.ts';

/**
 * Covers an upgrade from each release with a golden state: this code opens what that release
 * stored, and continues with all of it.
 */

const run = promisify(execFile);
const DEADLINE_MS = 60_000;
const CHAINS = ['eip155:31337', `solana:${LOCAL_CLUSTER}`, `bip122:${GENESIS.regtest}`];
const UNCHANGED: readonly string[] = ['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED'];
const SWEPT_TO = '0x000000000000000000000000000000000b0b0b0b';
const RECIPIENT = '0x0000000000000000000000000000000000601de2';

interface HistoryPage {
  readonly history: Parameters<typeof chainFault>[0];
}

describe.each(goldenReleases())('the state of release %s', (release) => {
  let open: OpenGolden;
  let stack: Stack;
  beforeAll(async () => {
    open = await openGolden(release);
    stack = await startStack(open.options);
    // In a deployment cron wakes the vaults.
    await stack.sweep();
  });
  afterAll(async () => {
    await stack?.stop();
    await open?.end();
  });

  const client = (name: string): Client => clientOf(open.golden.people, name, stack.url);
  const id = (name: string): string => open.golden.ids[name] ?? '';
  const until = (txId: string, state: string): Promise<TransactionRecord> => {
    const probe = async () => {
      const found = await client('alice').read(txId);
      return found.state === state ? found : null;
    };
    return pollUntil(`${state} of ${txId}`, probe, DEADLINE_MS);
  };
  const signature = (name: string, digest: string) => ScriptDevice.read(open.golden.devices[name] ?? '').sign(digest);
  const keyOf = async (keyId: string) => {
    const param = { vaultId: String(open.golden.treasury.id), keyId };
    return unwrap(serviceOf(stack).api.internal.vault[':vaultId'].key[':keyId'].$get({ param }));
  };
  const isRefreshed = (keyId: string) =>
    pollUntil(
      'new shares',
      async () => {
        const { refreshing, shares } = await keyOf(keyId);
        return refreshing ? null : [...new Set(shares.map(({ epoch }) => epoch))];
      },
      DEADLINE_MS,
    );
  const pay = async (chain: string, to: string, amount: string): Promise<string> => {
    const { treasury } = open.golden;
    const created = await client('alice').transfer({ vaultId: treasury.id, chain, to, amount });
    for (const name of ['alice', 'bob']) await client(name).approve(created.id);
    return created.id;
  };

  test('both values of a rotated token work, and a session', async () => {
    const { people, treasury } = open.golden;
    const { token, tokenInGrace, cookie = '' } = people['carol'] ?? {};
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer ${tokenInGrace}` },
      { cookie },
    ]) {
      expect((await fetch(`${stack.url}/vault/${treasury.id}/policy`, { headers })).status).toBe(200);
    }
  });

  test('every record that had ended is listed as it was', async () => {
    for (const [vaultId, before] of Object.entries(open.golden.listed)) {
      const { transactions } = await client('alice').transactions(Number.parseInt(vaultId, 10), { limit: '100' });
      const now = new Map(transactions.map((one) => [one.id, one]));
      for (const record of before) {
        expect(now.has(record.id)).toBe(true);
        if (!UNCHANGED.includes(record.state)) continue;
        // A later release adds fields, and warnings of the same bytes.
        const { warnings } = now.get(record.id) ?? record;
        const rejections = record.rejection === null ? [] : [record.rejection];
        const decided = { rejections, requiredRejections: record.kind === 'activity' ? 0 : 1 };
        const added = {
          ...decided,
          hiddenChanges: [],
          foreignChainId: null,
          droppedKeys: null,
          maxTokenFee: null,
          omitted: [],
        };
        // Assets have had `trust` and `imitates` since then, and a rejection a reason.
        const { feeAsset, ...same } = now.get(record.id) ?? record;
        expect(feeAsset.trust).toBe('native');
        expect(withoutAdded(same)).toEqual({ ...record, ...added, warnings });
      }
    }
    const states = new Set(open.golden.listed[open.golden.treasury.id]?.map(({ state }) => state));
    const pending = ['SUBMITTED', 'SIGNING', 'BROADCAST', 'CONFIRMING'];
    expect([...UNCHANGED, ...pending].filter((state) => !states.has(state as TransactionRecord['state']))).toEqual([]);
  });

  test('what waited for signers and for the chain is completed', async () => {
    const { bitcoin } = open;
    // The local chain has lost its mempool, so the service sends the bytes again.
    await pollUntil('the payment in the mempool', async () => bitcoin.chain.waiting()[0] ?? null, DEADLINE_MS);
    bitcoin.chain.mine(2);
    for (const name of ['BROADCAST', 'CONFIRMING', 'SIGNING']) await until(id(name), 'SUCCEEDED');
    await client('alice').approve(id('SUBMITTED'));
    await until(id('SUBMITTED'), 'SUCCEEDED');
    const { digest } = await client('carol').challenge(id('DRAFT'));
    const { approve } = client('carol').api.transaction[':txId'];
    await unwrap(approve.$post({ param: { txId: id('DRAFT') }, json: signature('carol', digest) }));
    await until(id('DRAFT'), 'SUCCEEDED');
  });

  test('a deposit that was reported before is recorded', async () => {
    const { openDeposit, treasury } = open.golden;
    const probe = async () => {
      // The deposit is dust, which release 0.2.0 showed.
      const { $get } = client('alice').api.vault[':vaultId'].transactions;
      const query = { limit: '100', visible: 'all' } as const;
      const { transactions } = await unwrap($get({ param: { vaultId: String(treasury.id) }, query }));
      return transactions.find(({ txHash, state }) => txHash === openDeposit && state === 'SUCCEEDED') ?? null;
    };
    expect(await pollUntil('the deposit', probe, DEADLINE_MS)).toMatchObject({ direction: 'in' });
  });

  test('a policy change that lacked approvals is adopted', async () => {
    const { reserve, policyChange } = open.golden;
    const param = { vaultId: String(reserve.id), changeId: policyChange };
    const states: string[] = [];
    for (const name of ['bob', 'carol']) {
      const change = client(name).api.vault[':vaultId']['policy-change'][':changeId'];
      const { digest } = await unwrap(change.$get({ param, query: {} }));
      states.push((await unwrap(change.approve.$post({ param, json: signature(name, digest) }))).state);
    }
    expect(states).toEqual(['PENDING', 'ADOPTED']);
  });

  test('an interrupted refresh is completed, a further one runs, and every chain pays afterwards', async () => {
    const { treasury, refreshingKey } = open.golden;
    expect(await isRefreshed(refreshingKey)).toEqual([2]);
    const param = { vaultId: String(treasury.id) };
    const { keys } = await unwrap(serviceOf(stack).api.internal.vault[':vaultId'].$get({ param }));
    const taproot = keys.find(({ scheme }) => scheme === ('frost-secp256k1-tr' satisfies KeyScheme))?.keyId ?? '';
    const { refresh } = serviceOf(stack).api.internal.vault[':vaultId'].key[':keyId'];
    await unwrap(refresh.$post({ param: { ...param, keyId: taproot } }));
    expect(await isRefreshed(taproot)).toEqual([2]);
    const bitcoin = await pay('bitcoin-regtest', treasury.addresses['bitcoin-regtest'] ?? '', '40000');
    const solana = await pay('solana-local', treasury.addresses['solana-local'] ?? '', '1000');
    await until(await pay('anvil', RECIPIENT, '77'), 'SUCCEEDED');
    expect(await open.anvil.balance(RECIPIENT)).toBe(77n);
    await until(solana, 'SUCCEEDED');
    await pollUntil('the payment in the mempool', async () => open.bitcoin.chain.waiting()[0] ?? null, DEADLINE_MS);
    open.bitcoin.chain.mine(2);
    await until(bitcoin, 'SUCCEEDED');
    expect(open.solana.chain.account(address(treasury.addresses['solana-local'] ?? ''))).not.toBeNull();
  });

  test('the recovery packages open, give the keys of all addresses, and sweep a wallet', async () => {
    const { treasury } = open.golden;
    const exported = await serviceOf(stack).request<{ packages: readonly RecoveryPackage[] }>(
      'POST',
      `/internal/vault/${treasury.id}/recovery`,
    );
    const pins = pinsOfStack(open.options.folder);
    const signingKeys = new Map(pins.map(({ index, signing }) => [party(index), signing]));
    const secrets = RECOVERY_KEYS.map((name) => recoverySecretOf(join(open.folder, name)));
    const { wallets, faults } = await recovered(secrets, exported.body.packages, { chains: CHAINS, signingKeys });
    expect(faults).toEqual([]);
    const addresses = new Set(wallets.map(({ address: of }) => of));
    expect(Object.values(treasury.addresses).filter((of) => !addresses.has(of))).toEqual([]);
    const file = (name: string) => join(open.folder, name);
    const peers = Object.fromEntries(pins.map(({ index, signing }) => [index, { signing }]));
    await writeFile(file('peers.json'), JSON.stringify(peers));
    await writeFile(file('export.json'), JSON.stringify(exported.body));
    const recover = async (...words: readonly string[]) => {
      const env = { ...process.env, RPC_URLS: JSON.stringify({ anvil: [open.anvilUrl] }) };
      return (await run(process.execPath, ['cli/conclave.ts', 'recover', '--bundled-node', ...words], { env })).stdout;
    };
    const keys = RECOVERY_KEYS.map(file);
    for (const key of keys) {
      const checked = await recover('check', '--key', key, '--peers', file('peers.json'), file('export.json'));
      expect(checked.match(/opens: key/g)).toHaveLength(new Set(exported.body.packages.map(({ keyId }) => keyId)).size);
    }
    const from = treasury.addresses['anvil'] ?? '';
    expect(await open.anvil.balance(from)).toBeGreaterThan(0n);
    const to = ['--to', `anvil=${SWEPT_TO}`];
    await writeFile(file('job.json'), await recover('watch', '--wallet', `anvil=${from}`, ...to));
    const terms = [...keys.flatMap((key) => ['--key', key]), '--peers', file('peers.json'), '--job', file('job.json')];
    await writeFile(file('signed.json'), await recover('sweep', ...terms, '--yes', ...to, file('export.json')));
    expect(await recover('broadcast', file('signed.json'))).toContain('included in block');
    expect(await open.anvil.balance(SWEPT_TO)).toBeGreaterThan(0n);
  });

  test('the history is one chain of hashes from its first line, and nothing of it is lost', async () => {
    for (const [vaultId, length] of Object.entries(open.golden.historyLengths)) {
      const page = await client('alice').request<HistoryPage>('GET', `/vault/${vaultId}/history`);
      expect(chainFault(page.body.history)).toBeNull();
      expect(page.body.history.length).toBeGreaterThanOrEqual(length);
    }
  });

  test('a credential reset is still announced', async () => {
    const param = { userId: open.golden.people['dave']?.id ?? '' };
    const resets = serviceOf(stack).api.internal.user[':userId']['credential-reset'];
    const { data } = await unwrap(resets.$get({ param }));
    expect(data.map(({ state }) => state)).toEqual(['PENDING']);
  });
});

/** Returns a record without the fields that a later release added inside its parts. */
function withoutAdded(record: object): unknown {
  const added = ['trust', 'imitates', 'reason'];
  return JSON.parse(JSON.stringify(record, (name, value: unknown) => (added.includes(name) ? undefined : value)));
}
