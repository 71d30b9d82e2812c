import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Address } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { stringifyJsonWithBigInts } from '@solana/rpc-spec-types';
import { isPublicKey } from '#chains/solana/address.ts';
import type { Account } from '#chains/solana/question.ts';
import type { Entry } from './solana-ledger.ts';
import { decodeBase64, GENESIS, SolanaLedger } from './solana-ledger.ts';

export interface SolanaNode {
  readonly url: string;
  readonly ledger: SolanaLedger;
  readonly stop: () => Promise<void>;
}

interface SolanaOptions {
  /** A free one when absent. */
  readonly port?: number;
  /** Where it is written to at the end, and goes on from when it is there. */
  readonly folder?: string;
}

/** What a node says no to, with its code. */
class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A local ledger behind the JSON-RPC interface of a Solana node, as far as Conclave asks one. Whole numbers of 64 bits are written as the
 * node writes them, as plain JSON numbers of any size.
 */
export async function startSolanaNode({ port = 0, folder }: SolanaOptions = {}): Promise<SolanaNode> {
  const ledger = new SolanaLedger(folder ?? null);
  const server = createServer((request, response) => {
    // Who asked may hang up in the middle of the question: then there is nobody to answer.
    serve(ledger, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    ledger,
    stop: () => {
      if (folder !== undefined) ledger.save(folder);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(ledger: SolanaLedger, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await answerOf(ledger, request);
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
}

async function answerOf(ledger: SolanaLedger, request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const {
    id,
    method,
    params = [],
  }: { id: unknown; method: string; params?: readonly unknown[] } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  try {
    const answer = METHODS[method];
    if (answer === undefined) throw new Refusal(-32601, 'Method not found');
    return stringifyJsonWithBigInts({ jsonrpc: '2.0', id, result: answer(ledger, params) });
  } catch (error) {
    const code = error instanceof Refusal ? error.code : -32602;
    return stringifyJsonWithBigInts({
      jsonrpc: '2.0',
      id,
      error: { code, message: error instanceof Error ? error.message : 'refused' },
    });
  }
}

type Method = (ledger: SolanaLedger, params: readonly unknown[]) => unknown;

const METHODS: Readonly<Record<string, Method>> = {
  getGenesisHash: () => GENESIS,
  getSlot: (ledger, [options]) => headFor(ledger, options),
  getBlockHeight: (ledger, [options]) => headFor(ledger, options),
  getLatestBlockhash: (ledger) => {
    const { blockhash, lastHeight } = ledger.latestBlockhash();
    return inContext(ledger, { blockhash, lastValidBlockHeight: lastHeight });
  },
  getMinimumBalanceForRentExemption: (ledger, [bytes]) => ledger.rent(BigInt(numberOf(bytes))),
  getRecentPrioritizationFees: (ledger) => [{ slot: ledger.slot, prioritizationFee: 0n }],
  getBalance: (ledger, [at]) => inContext(ledger, ledger.account(addressOf(at))?.lamports ?? 0n),
  getMultipleAccounts: (ledger, [list, options]) => {
    if (!Array.isArray(list) || list.length > 100) throw new Refusal(-32602, 'Too many inputs provided; max 100');
    return inContext(
      ledger,
      list.map((at) => encoded(ledger.account(addressOf(at)))),
      headFor(ledger, options),
    );
  },
  getTokenAccountsByOwner: (ledger, [owner, filter]) => {
    const { programId } = filter as { readonly programId?: string };
    const accounts = programId === TOKEN_PROGRAM_ADDRESS ? ledger.tokenAccounts(addressOf(owner)) : [];
    return inContext(
      ledger,
      accounts.map(({ address, mint }) => ({ pubkey: address, account: { data: { parsed: { info: { mint } } } } })),
    );
  },
  simulateTransaction: (ledger, [wire]) => {
    const { error, logs, units } = ledger.simulate(bytesOf(wire));
    return inContext(ledger, { err: error, logs, unitsConsumed: units, accounts: null, returnData: null });
  },
  sendTransaction: (ledger, [wire]) => {
    const bytes = bytesOf(wire);
    const sent = ledger.send(bytes);
    if (sent === 'signature') throw new Refusal(-32003, 'Transaction signature verification failure');
    // A node passes on what the leader then drops, and names its signature all the same.
    return sent === null ? ledger.nameOf(bytes) : sent.hash;
  },
  getSignatureStatuses: (ledger, [hashes]) =>
    inContext(
      ledger,
      (hashes as readonly string[]).map((hash) => statusOf(ledger, ledger.entry(hash))),
    ),
  getTransaction: (ledger, [hash, options]) => {
    const entry = ledger.entry(String(hash));
    return entry === null || entry.slot > headFor(ledger, options) ? null : transactionOf(entry);
  },
  getBlock: (ledger, [slot]) => {
    const number = BigInt(numberOf(slot));
    if (number > ledger.slot) throw new Refusal(-32004, `Block not available for slot ${number}`);
    return { blockhash: ledger.blockhashOf(number), blockHeight: number, parentSlot: number - 1n, blockTime: null };
  },
  getSignaturesForAddress: (ledger, [at, options]) => {
    const { before, limit = 1000n } = (options ?? {}) as { readonly before?: string; readonly limit?: number | bigint };
    const all = ledger.naming(addressOf(at));
    const start = before === undefined ? 0 : all.findIndex(({ hash }) => hash === before) + 1;
    return all
      .slice(start, start + numberOf(limit))
      .map(({ hash, slot, error }) => ({ signature: hash, slot, err: error, memo: null, blockTime: null }));
  },
  requestAirdrop: (ledger, [to, amount]) => ledger.airdrop(addressOf(to), BigInt(numberOf(amount))).hash,
};

function inContext(ledger: SolanaLedger, value: unknown, slot: bigint = ledger.slot) {
  return { context: { apiVersion: '3.0.0', slot }, value };
}

function headFor(ledger: SolanaLedger, options: unknown): bigint {
  const { commitment } = (options ?? {}) as { readonly commitment?: string };
  return commitment === 'confirmed' || commitment === 'processed' ? ledger.slot : ledger.finalizedSlot;
}

function statusOf(ledger: SolanaLedger, entry: Entry | null) {
  if (entry === null) return null;
  const confirmationStatus = entry.slot <= ledger.finalizedSlot ? 'finalized' : 'confirmed';
  return { slot: entry.slot, confirmations: null, err: entry.error, confirmationStatus };
}

function transactionOf({ hash, slot, error, fee, accounts, before, after, logs }: Entry) {
  const tokens = (snapshots: Entry['before']) =>
    snapshots.flatMap(({ token }, accountIndex) => {
      if (token === null) return [];
      const { mint, owner, units, decimals } = token;
      return [{ accountIndex, mint, owner, uiTokenAmount: { amount: units.toString(), decimals } }];
    });
  return {
    slot,
    blockTime: null,
    version: 0,
    meta: {
      err: error,
      fee,
      preBalances: before.map(({ lamports }) => lamports),
      postBalances: after.map(({ lamports }) => lamports),
      preTokenBalances: tokens(before),
      postTokenBalances: tokens(after),
      loadedAddresses: { writable: [], readonly: [] },
      logMessages: logs,
    },
    transaction: { signatures: [hash], message: { accountKeys: accounts } },
  };
}

function encoded(account: Account | null) {
  if (account === null) return null;
  const { lamports, owner, data, isExecutable } = account;
  return {
    lamports,
    owner,
    data: [Buffer.from(data).toString('base64'), 'base64'],
    executable: isExecutable,
    rentEpoch: 18446744073709551615n,
    space: data.length,
  };
}

function addressOf(value: unknown): Address {
  if (typeof value !== 'string' || !isPublicKey(value)) throw new Refusal(-32602, 'Invalid param: Invalid');
  return value;
}

function bytesOf(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw new Refusal(-32602, 'invalid transaction');
  return decodeBase64(value);
}

function numberOf(value: unknown): number {
  if (typeof value === 'bigint') return Number.parseInt(value.toString(), 10);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Refusal(-32602, 'Invalid param');
  return value;
}
