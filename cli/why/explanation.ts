import type { InferResponseType } from 'hono/client';
import { isUrgent } from '#domain/operations/raised-alert.ts';
import type { Connection } from '../api-client.ts';
import type { Status } from '../doctor/running-check.ts';
import { REASONS } from './reasons.ts';

export type Progress = InferResponseType<Connection['internal']['transaction'][':txId']['$get'], 200>;

/** The alarm of a vault, which sends its jobs, may be some minutes late. */
const LATE_MS = 5 * 60_000;

/** The queue that carries each job; a job without one is done in the alarm of the vault. */
const QUEUE_OF: Readonly<Record<NonNullable<Progress['job']>, Status['queues'][number]['queue'] | null>> = {
  expire: null,
  sign: 'signing',
  broadcast: 'signing',
  settle: 'signing',
  confirm: 'confirmation',
};

/**
 * Returns what a transaction waits for, one sentence a line: its state, its job, and the parts of
 * the service that this job needs.
 */
export function explanationOf(progress: Progress, status: Status, nowMs: number): readonly string[] {
  const { id, vaultId, chain, state, stateReason, stateDetail, updatedAt } = progress;
  const reason = stateReason === null ? '' : ` (${stateReason})`;
  const known = stateReason === null ? undefined : REASONS.get(stateReason);
  const isOver = progress.job === null;
  const since = `since ${updatedAt}, ${ageOf(updatedAt, nowMs)}`;
  return [
    `Transaction ${id} of vault ${vaultId} on ${chain} is ${state}${reason} ${since}.`,
    ...(known === undefined || isOver ? [] : [known]),
    ...(stateDetail === null ? [] : [`RPC nodes answered: ${stateDetail}`]),
    ...progressIn(progress, nowMs),
    ...jobIn(progress, nowMs),
    ...(isOver ? [] : partsIn(progress, status)),
    ...(stateReason !== null && known === undefined ? ['See docs/api.md#state-reasons.'] : []),
  ];
}

function progressIn(progress: Progress, nowMs: number): readonly string[] {
  const { state, approvals, waitsFor, newestAttempt: attempt, attempts, inclusion } = progress;
  if (state === 'DRAFT' || state === 'SUBMITTED') {
    return [`It has ${approvals.count} of ${approvals.required} approvals. Signers decide.`];
  }
  const blocking = waitsFor === null ? [] : [`It waits for transaction ${waitsFor}. Run: why ${waitsFor}`];
  if (inclusion !== null) {
    const { blockNumber, confirmations, required, secondNode, finalized } = inclusion;
    const end = finalized ? 'The block is final.' : 'A reorg can still remove the block.';
    const depth = required === null ? String(confirmations) : `${confirmations} of ${required}`;
    return [
      ...blocking,
      `Block ${blockNumber} has it, with ${depth} confirmations. ${end}`,
      ...(secondNode === null || secondNode === 'agrees' ? [] : [`The second RPC node: ${secondNode}.`]),
    ];
  }
  if (attempt === null) return [...blocking, ...(state === 'SIGNING' ? ['No attempt was prepared yet.'] : [])];
  const { number, purpose, hash, outcome, sentAt } = attempt;
  const name = `Attempt ${number} of ${attempts}${purpose === 'intent' ? '' : ', a cancellation,'}`;
  const sent =
    sentAt === null ? 'was not sent yet' : `was sent last ${ageOf(sentAt, nowMs)}, with the outcome ${outcome}`;
  return [...blocking, `${name} ${hash === null ? 'is not signed yet' : `(${hash}) ${sent}`}.`];
}

function jobIn({ job, queued }: Progress, nowMs: number): readonly string[] {
  if (job === null) return ['It waits for nothing.'];
  if (queued === null) return [`Fault: its state requires the job ${job}, and the vault has not stored it.`];
  const lateMs = nowMs - Date.parse(queued.dueAt);
  const tries =
    queued.tries === 0
      ? 'It was not sent since the last change'
      : `It was sent ${queued.tries} times without an effect`;
  if (lateMs > LATE_MS) return [`Fault: its job ${job} is overdue since ${queued.dueAt}. ${tries}.`];
  if (job === 'expire') return [`It expires at ${queued.dueAt}.`];
  return [`Its next job is ${job}, at ${queued.dueAt}. ${tries}.`];
}

/** Returns what the status states of the parts that the job needs. */
function partsIn({ job, chain: name }: Progress, status: Status): readonly string[] {
  const queueName = job === null ? null : QUEUE_OF[job];
  const queue = status.queues.find(({ queue: one }) => one === queueName);
  const stalled = queue?.openSince ?? null;
  const isOnChain = job !== null && job !== 'expire';
  return [
    ...(stalled === null ? [] : [`A test message waits in the queue ${queueName} since ${stalled}.`]),
    ...(job === 'sign' ? cosignersIn(status) : []),
    ...(isOnChain ? nodesIn(name, status) : []),
    ...(isOnChain ? alertsIn(name, status) : []),
  ];
}

function cosignersIn({ cosigners }: Status): readonly string[] {
  const faulty = cosigners.filter(
    ({ fault, testedKeys }) => fault !== null || testedKeys.some((key) => key.fault !== null),
  );
  if (faulty.length === 0) return [`All ${cosigners.length} co-signers are available.`];
  return faulty.map(({ node, fault, setting, testedKeys }) => {
    if (fault !== null)
      return `Co-signer ${node} is unavailable: ${setting === null ? fault : `${fault}, ${setting}`}.`;
    const faults = new Set(testedKeys.flatMap((key) => key.fault ?? []));
    return `Co-signer ${node} cannot use a share: ${[...faults].join(', ')}.`;
  });
}

function nodesIn(name: string, { chains }: Status): readonly string[] {
  const chain = chains.find((one) => one.name === name);
  if (chain === undefined) return [`RPC_URLS has no RPC node of ${name}.`];
  if (chain.fault !== null) return [chain.fault];
  return chain.nodes.map(({ host, ok, fault, head, error, checkedAt }) => {
    if (ok === null) return `RPC node ${host} was not checked yet.`;
    return ok
      ? `RPC node ${host} answered at ${checkedAt}, with block ${head}.`
      : `RPC node ${host} at ${checkedAt}: ${fault}${error === null ? '' : `, ${error}`}.`;
  });
}

/** The urgent alerts of the service, without those of other chains. */
function alertsIn(name: string, { attention, chains }: Status): readonly string[] {
  const others = new Set(chains.map((chain) => chain.name).filter((other) => other !== name));
  return attention
    .filter(({ id, code }) => {
      const [first = ''] = id.slice(`${code}:`.length).split(' ');
      return isUrgent(code) && !others.has(first);
    })
    .map(({ id, code }) => `Open alert ${id}: docs/runbook.md#${code}`);
}

function ageOf(time: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1000));
  return seconds < 120 ? `${seconds} seconds ago` : `${Math.floor(seconds / 60)} minutes ago`;
}
