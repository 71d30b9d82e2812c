import { domain, type Bug, SIM } from './bug.ts';

/** Nonces, messages and memory: two payments for one, one that is lost, one that nobody looks at any more. */
export const FLOW_BUGS: readonly Bug[] = [
  {
    name: 'a transaction that asks again gets another nonce',
    file: 'src/domain/wallet-nonce.ts',
    was: 'if (own !== undefined) return { book: stay(book, transactionId), nonce: own };',
    is: '',
    caughtBy: domain('wallet-nonce'),
  },
  {
    name: 'a nonce that was given back is lost',
    file: 'src/domain/wallet-nonce.ts',
    was: 'return { ...after, free: new Set(book.free).add(nonce) };',
    is: 'return after;',
    caughtBy: domain('wallet-nonce'),
  },
  {
    name: 'a payment that can not be made leaves a gap below others',
    file: 'src/domain/wallet-nonce.ts',
    was: 'return { book, mayGo: false };',
    is: 'return { book, mayGo: true };',
    caughtBy: domain('wallet-nonce'),
  },
  {
    name: 'somebody gets a nonce above one that is about to be given back',
    file: 'src/domain/wallet-nonce.ts',
    was: 'if (lowest === null && book.leaving.size > 0) return { book, nonce: null };',
    is: '',
    caughtBy: domain('wallet-nonce'),
  },
  {
    name: 'the nonce of a mined transaction is given out again',
    file: 'src/jobs/settle.ts',
    was: 'await allocator.end({ transactionId: id, isSpent: used });',
    is: 'await allocator.end({ transactionId: id, isSpent: false && used });',
    caughtBy: SIM,
  },
  {
    name: 'what a pool has forgotten is waited for, for ever',
    file: 'src/domain/transition.ts',
    was: "if (newest.sent.outcome !== 'accepted' && newest.sent.outcome !== 'refused') return null;",
    is: 'return null;',
    caughtBy: SIM,
  },
  {
    name: 'a block that is undone is not noticed',
    file: 'src/domain/transition.ts',
    was: 'CONFIRMING: { include, miss: reorganise, setVisibility },',
    is: 'CONFIRMING: { include, setVisibility },',
    caughtBy: domain('transition-matrix'),
  },
  {
    name: 'a transaction is done before it is deep enough',
    file: 'src/domain/transition.ts',
    was: 'if (inclusion.confirmations < confirmationsNeeded) {',
    is: 'if (inclusion.confirmations < 1) {',
    caughtBy: domain('transition'),
  },
  {
    name: 'a late signature takes the place of a newer attempt',
    file: 'src/domain/transition.ts',
    was: `const sign: Step<'sign'> = (transaction, event, { nowMs }) => {
  const newest = newestAttempt(transaction);
  if (newest === null || newest.number !== event.attempt || newest.signed !== null) return null;`,
    is: `const sign: Step<'sign'> = (transaction, event, { nowMs }) => {
  const newest = newestAttempt(transaction);
  if (newest === null) return null;`,
    caughtBy: domain('fill-nonce'),
  },
  {
    name: 'a second run prepares other bytes for one payment',
    file: 'src/domain/transition.ts',
    was: 'if (!wanted || (newest !== null && newest.nonce !== event.attempt.nonce)) return null;',
    is: '',
    caughtBy: domain('transition'),
  },
  {
    name: 'a replacement has another nonce than what it replaces',
    file: 'src/domain/transition.ts',
    was: 'if (!wanted || (newest !== null && newest.nonce !== event.attempt.nonce)) return null;',
    is: 'if (!wanted) return null;',
    caughtBy: domain('transition'),
  },
  {
    name: 'bytes that may be out are given up',
    file: 'src/domain/transition.ts',
    was: "if (!touched) return { state: 'FAILED', stateReason: 'REJECTED_BY_NODE' };",
    is: "return { state: 'FAILED', stateReason: 'REJECTED_BY_NODE' };",
    caughtBy: domain('transition'),
  },
  {
    name: 'a job is taken off the list when its message is sent',
    file: 'src/objects/vault-drain.ts',
    was: 'for (const row of rows) storage.postpone(row, nowMs + resendDelayMs(row.tries));',
    is: 'for (const { transactionId, job } of rows) storage.discharge(transactionId, job);',
    caughtBy: SIM,
  },
  {
    name: 'what was renewed while it was told is never told',
    file: 'src/objects/vault-storage.ts',
    was: `"DELETE FROM outbox WHERE tx_id = ? AND job = 'project' AND version = ? AND due_at_ms = ?",`,
    is: `"DELETE FROM outbox WHERE tx_id = ? AND job = 'project' AND version <> ? + 1000000 AND due_at_ms <> ? - 1",`,
    caughtBy: SIM,
  },
  {
    name: 'an older word replaces a newer one in D1',
    file: 'src/store/transactions.ts',
    was: 'setWhere: sql`excluded.version > ${transactions.version}`,',
    is: '',
    caughtBy: ['test/worker/projection.test.ts'],
  },
  {
    name: 'the sweep wakes a vault and sets no alarm',
    file: 'src/objects/vault.ts',
    was: `    this.#commits.disarm();
    await this.#commits.arm();`,
    is: '',
    caughtBy: SIM,
  },
  {
    name: 'an alarm whose clock is ahead rings without end',
    file: 'src/objects/vault-commit.ts',
    was: 'await this.#storage.setAlarm(atMs + this.#patienceMs);',
    is: 'await this.#storage.setAlarm(atMs);',
    caughtBy: ['test/objects/vault-commit.test.ts'],
  },
  {
    name: 'memory changes although the writes failed',
    file: 'src/objects/vault-commit.ts',
    was: '      this.#rows.forget();\n      throw error;',
    is: '      this.#rows.forget();',
    caughtBy: ['test/objects/vault-commit.test.ts'],
  },
  {
    name: 'two answers to one Idempotency-Key',
    file: 'src/objects/rehearsal.ts',
    was: 'const before = idempotency === null ? null : storage.remembered(actor.userId, idempotency.key, nowMs);',
    is: 'const before = idempotency === null ? null : storage.remembered(actor.userId, `${idempotency.key}!`, nowMs);',
    caughtBy: SIM,
  },
  {
    name: 'a replacement is wanted on and on of what has arrived',
    file: 'src/jobs/sign.ts',
    was: '  if (await isDecided({ env, vault, adapter, work })) return;\n',
    is: '',
    caughtBy: SIM,
  },
  {
    name: 'two payments may claim one coin',
    file: 'src/objects/wallet-nonce.ts',
    was: 'const others = new Set(this.claimedByOthers({ transactionId }));',
    is: 'const others = new Set<string>();',
    caughtBy: SIM,
  },
  {
    name: 'a coin stays claimed when its transaction is over',
    file: 'src/jobs/settle.ts',
    was: 'const isSpent = adapterFor(work.chain, []).mostInFlight === null;',
    is: 'const isSpent = true;',
    caughtBy: SIM,
  },
];
