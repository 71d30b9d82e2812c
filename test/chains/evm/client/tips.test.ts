import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { CREATED_AT_MS, NATIVE } from '../cast.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/** Compares the tip that a node suggests with the tips of its own fee history. */

let chain: LocalChain;
let liar: FalseNode;
let native: TransferIntent;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  native = { ...NATIVE, from: chain.account(0) };
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

/** Four blocks in which everyone paid a tip of 1 gwei. */
const PAID_GWEI = Array.from({ length: 4 }, () => ['0x3b9aca00', '0x3b9aca00', '0x3b9aca00']);
const EMPTY_BLOCK = ['0x0', '0x0', '0x0'];
const HUGE_TIP: Rule = { result: '0x1d1a94a2000' };
const NO_METHOD: Rule = { error: { code: -32601, message: 'the method does not exist' } };
/** The answer of a node to eth_feeHistory. */
const history = (rest: object): Rule => ({
  result: { oldestBlock: '0x1', baseFeePerGas: Array(5).fill('0x3b9aca00'), gasUsedRatio: Array(4).fill(0.5), ...rest },
});

async function tipAt(client: ReturnType<typeof clientFor>, speed: 'slow' | 'fast'): Promise<bigint> {
  const quote = await client.quote(native, null, { speed });
  if (!quote.ok || !('maxPriorityFeePerGas' in quote.value)) throw new Error('no quote');
  return BigInt(String(quote.value.maxPriorityFeePerGas));
}

/**
 * A node suggested a tip of 2,000 gwei beside its own history of 1 gwei, and a payment of 1 wei
 * cost 0.042 ETH: pyth-crosschain#2532, safe-react#3393 and #3450.
 */
test.each<[string, Rule, Rule, string]>([
  ['a huge suggestion', HUGE_TIP, history({ reward: PAID_GWEI }), '3000000000'],
  [
    'a huge suggestion between empty blocks',
    HUGE_TIP,
    history({ reward: [EMPTY_BLOCK, ...PAID_GWEI.slice(3)] }),
    '3000000000',
  ],
  ['a huge suggestion beside an odd block', HUGE_TIP, history({ reward: [null, ...PAID_GWEI] }), '3000000000'],
  ['a suggestion near the history', { result: '0x77359400' }, history({ reward: PAID_GWEI }), '2000000000'],
  ['a suggestion of nothing', { result: '0x0' }, history({ reward: PAID_GWEI }), '1000000'],
  ['no suggestion', NO_METHOD, history({ reward: PAID_GWEI }), '1000000000'],
  ['a quiet chain', { result: '0x3b9aca00' }, history({ reward: [EMPTY_BLOCK, EMPTY_BLOCK] }), '1000000000'],
  ['a history without rewards', { result: '0x3b9aca00' }, history({}), '1000000000'],
  ['rewards of null', { result: '0x3b9aca00' }, history({ reward: null }), '1000000000'],
  ['empty rewards', { result: '0x3b9aca00' }, history({ reward: [] }), '1000000000'],
  ['blocks without rewards', { result: '0x3b9aca00' }, history({ reward: [[], []] }), '1000000000'],
  ['no history', { result: '0x3b9aca00' }, NO_METHOD, '1000000000'],
  ['neither', NO_METHOD, NO_METHOD, '1000000'],
])('the tip of %s is near what recent blocks were paid, at each speed', async (_name, suggestion, past, tip) => {
  liar.follow((method) =>
    method === 'eth_maxPriorityFeePerGas' ? suggestion : method === 'eth_feeHistory' ? past : 'forward',
  );
  const client = clientFor(anvilChain(), [liar.url]);
  expect(await client.quote(native, null)).toMatchObject({ ok: true, value: { maxPriorityFeePerGas: tip } });
  const [slow, fast] = await Promise.all((['slow', 'fast'] as const).map((speed) => tipAt(client, speed)));
  expect(slow).toBeLessThanOrEqual(BigInt(tip));
  const paid = past === NO_METHOD ? 0n : 1_000_000_000n;
  const raised = (BigInt(tip) * 3n) / 2n;
  expect(fast).toBe(raised > paid ? raised : paid);
});

test('a replacement is raised from the replaced attempt, and not from a huge suggestion', async () => {
  liar.follow((method) =>
    method === 'eth_maxPriorityFeePerGas'
      ? HUGE_TIP
      : method === 'eth_feeHistory'
        ? history({ reward: PAID_GWEI })
        : 'forward',
  );
  const client = clientFor(anvilChain(), [liar.url]);
  const old = {
    gasLimit: '21000',
    maxFeePerGas: '80000000001',
    maxPriorityFeePerGas: '8000000000',
    maxFee: native.maxFee,
  };
  const replaced: Attempt = {
    ...client.rules.compose(native, old, 5n),
    purpose: 'intent',
    number: 1,
    preparedAtMs: CREATED_AT_MS,
    signed: null,
    sent: null,
    refusal: null,
  };
  expect(await client.quote(native, replaced)).toMatchObject({
    ok: true,
    value: { maxFeePerGas: '90000000003', maxPriorityFeePerGas: '9000000001' },
  });
});
