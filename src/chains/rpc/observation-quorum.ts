import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { NodeStatement, Observation } from '#chains/observation.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { denialOf, isUnshown, NO_NODE, onEveryNode, onNode, reachedByTwo } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Claim } from '#chains/contents.ts';
import { statementsOf } from '#chains/rpc/node-statements.ts';
import type { InclusionStatement } from '#chains/rpc/inclusion-contents.ts';
import { contentsOfTwo, movedIn, withProven } from '#chains/rpc/inclusion-contents.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { isSameInclusion } from '#domain/transaction/inclusion.ts';
import type { Inclusion, SecondNodeVerdict, TokenTransfer } from '#domain/transaction/transaction.ts';

/** Returns what one RPC node reports of the attempts of a transaction. */
type Observer = (node: RpcNode, watched: WatchedAttempts) => Promise<Result<Observation, NodeProblem>>;

type Answer = Result<Observation, NodeProblem>;

/** The query, and the confirmations that end a transaction. */
interface Watch {
  readonly chain: Pick<Chain, 'confirmations' | 'tokens'>;
  readonly watched: WatchedAttempts;
  /**
   * Returns those payments of a claim that another RPC node proves; none where chains have no such
   * claims.
   */
  readonly prove?: (inclusion: Inclusion, claim: Claim) => Promise<readonly ChainMovement[]>;
}

/**
 * Returns the state of a transaction's attempts according to all configured RPC nodes. An inclusion
 * is proven when any two nodes report the same transaction, block and result; its depth and
 * finality are the smaller of the two. An inclusion that only one node reports carries the verdict
 * of the others (`secondNode`), and is never final.
 *
 * An end without an inclusion must come from every configured node: a transaction that one node
 * does not have is not proven absent while another one has it.
 */
export async function observeWithQuorum(
  pool: NodePool,
  watch: Watch,
  observe: Observer,
): Promise<Result<Observation, ChainFault>> {
  const answers = await onEveryNode(pool, (node) => observe(node, watch.watched));
  const claim = claimAmong(answers, watch);
  const hosts = pool.nodes.map(({ host }) => host);
  if (claim === null) return asChainFault(withStatements(absenceAmong(answers, watch), { hosts, answers }));
  if (pool.nodes.length === 1) return accepted({ type: 'included', inclusion: claim, ...untracedIn(answers) });
  // The nodes are read again with the claimed block: a node that does not have it yet reports that
  // it is behind, and not that the transaction is absent.
  const seconds = await Promise.all(
    answers.map(async (answer, i) => {
      const node = pool.nodes[i];
      const isAnswered = states(answer, claim) || isSameInclusion(watch.watched.inclusion, claim);
      if (isAnswered || node === undefined) return answer;
      return onNode(pool, node, (one) => observe(one, { ...watch.watched, inclusion: claim, isClaimed: true }));
    }),
  );
  const inclusion = await provenInclusion(judge(claim, { answers: seconds, hosts }, watch), watch);
  const isProven = inclusion.secondNode === 'agrees';
  const stated = isProven ? {} : { statements: statementsOf(seconds, hosts, claim) };
  return accepted({ type: 'included', inclusion, ...untracedIn(seconds), ...stated });
}

/**
 * Adds which RPC nodes stated nothing, because one of them may have the transaction, and what each
 * of them stated when they contradict each other.
 */
function withStatements(
  result: Result<Observation, NodeProblem>,
  { hosts, answers }: Seconds,
): Result<Observation, NodeProblem> {
  if (!result.ok || result.value.type !== 'absent') return result;
  const statements = statementsOf(answers, hosts, null);
  const silent = statements.flatMap(({ host, states: stated }) => (SHOWS_NOTHING.has(stated) ? [host] : []));
  const { isUseDisputed = false } = result.value;
  return accepted({
    ...result.value,
    ...(silent.length === 0 ? {} : { unansweredBy: silent }),
    ...(isUseDisputed ? { statements } : {}),
  });
}

const SHOWS_NOTHING: ReadonlySet<NodeStatement['states']> = new Set(['nothing', 'included-unshown']);

async function provenInclusion(
  { inclusion, claim }: Judged,
  { chain, watched: { from: wallet }, prove }: Watch,
): Promise<Inclusion> {
  const proven = claim === null || prove === undefined ? [] : await prove(inclusion, claim);
  return withProven(inclusion, proven, { wallet, chain });
}

function untracedIn(answers: readonly Answer[]): { readonly untracedBy?: readonly string[] } {
  const untracedBy = answers.flatMap((answer) =>
    answer.ok && answer.value.type === 'included' ? (answer.value.untracedBy ?? []) : [],
  );
  return untracedBy.length === 0 ? {} : { untracedBy };
}

function inclusionsIn(answers: readonly Answer[]): readonly Inclusion[] {
  return answers.flatMap((answer) => (answer.ok && answer.value.type === 'included' ? [answer.value.inclusion] : []));
}

function states(answer: Answer, claim: Inclusion): boolean {
  return inclusionsIn([answer]).some((one) => isSameInclusion(one, claim));
}

/**
 * Returns the inclusion that two RPC nodes report, else the recorded one, else the first; null when
 * no node reports any.
 */
function claimAmong(answers: readonly Answer[], { watched: { inclusion: before } }: Watch): Inclusion | null {
  const claims = inclusionsIn(answers);
  const shared = claims.find((claim, i) => claims.some((other, k) => k !== i && isSameInclusion(claim, other)));
  return shared ?? claims.find((claim) => isSameInclusion(before, claim)) ?? claims[0] ?? null;
}

/**
 * When one RPC node alone counts this multiple of the confirmations, the second one is not just a
 * block behind, and the record shows it as unreachable. Ours.
 */
const LAG_TIMES = 2;

interface Judged {
  readonly inclusion: Inclusion;
  /** Payments by contracts that one RPC node alone states. */
  readonly claim: Claim | null;
}

interface Seconds {
  readonly answers: readonly Answer[];
  readonly hosts: readonly string[];
}

/**
 * Returns the claim with the verdict of two RPC nodes, and with the contents that two of them
 * state. What one node alone states of the contents is in no record.
 */
function judge(
  claim: Inclusion,
  { answers, hosts }: Seconds,
  { chain, watched: { inclusion: before, from: wallet } }: Watch,
): Judged {
  const statements = answers.flatMap((answer, by) => {
    const isUntraced = untracedIn([answer]).untracedBy !== undefined;
    const alike = inclusionsIn([answer]).filter((one) => isSameInclusion(one, claim));
    return alike.map((one) => ({ ...one, by, host: hosts[by] ?? '', isUntraced }));
  });
  const depths = statements.map(({ confirmations }) => confirmations);
  const [deepest, second] = [Math.max(0, ...depths), reachedByTwo(depths)];
  const finals = statements.filter(({ finalized }) => finalized).length;
  const alone = finals > 0 ? { isFinalForOneNode: true as const } : {};
  const isLeftBehind = (second ?? 0) < chain.confirmations && deepest >= LAG_TIMES * chain.confirmations;
  const transfer = transferAmong(statements);
  const preferred = statedAs(statements, transfer);
  const two = second === null || preferred === null ? null : contentsOfTwo(statements, preferred, { wallet, chain });
  if (second !== null && two !== null && !isLeftBehind) {
    const { isWhole, claim: traced, ...contents } = two;
    const stated = withTransfer({ ...claim, ...contents }, transfer);
    const finalized = finals >= 2 && isWhole;
    const proven = { ...stated, confirmations: second, finalized, secondNode: 'agrees' as const };
    return { inclusion: finalized ? proven : { ...proven, ...alone }, claim: traced };
  }
  // A block that two RPC nodes have confirmed stays confirmed, and one node alone cannot increase
  // its depth or change its contents.
  const agreed = before?.secondNode === 'agrees' && isSameInclusion(before, claim) ? before : null;
  const verdict = second === null ? verdictOf(answers, claim) : 'away';
  const kept = two ?? agreed ?? NO_CONTENTS;
  const contents = { feePaid: kept.feePaid, ...movedIn(kept) };
  if (agreed !== null && agreed.confirmations >= chain.confirmations) {
    const stated = withTransfer({ ...claim, ...contents }, agreed.tokenTransfer);
    const confirmed = {
      ...stated,
      confirmations: agreed.confirmations,
      finalized: false,
      secondNode: 'agrees' as const,
    };
    return { inclusion: verdict === 'away' ? { ...confirmed, ...alone } : confirmed, claim: null };
  }
  // An RPC node that contradicted earlier and does not answer now has not changed its answer.
  const stays = second === null && before?.secondNode === 'disagrees' && isSameInclusion(before, claim);
  const secondNode = stays && verdict === 'away' ? ('disagrees' as const) : verdict;
  const stated = withTransfer({ ...claim, ...contents }, claim.tokenTransfer === undefined ? undefined : 'unproven');
  const unproven = { ...stated, confirmations: deepest, finalized: false, secondNode };
  return { inclusion: secondNode === 'away' ? { ...unproven, ...alone } : unproven, claim: null };
}

type Contents = Pick<Inclusion, 'feePaid' | 'movements' | 'movementCount' | 'changes'>;

/** What is recorded of an inclusion whose contents two RPC nodes have never stated. */
const NO_CONTENTS: Contents = { feePaid: amountOf(0n), movements: [], movementCount: 0, changes: [] };

/**
 * Returns the statement of a token payment that two RPC nodes prove. Without a proof, it is that of
 * a node that saw no unlogged movement. Null without statements.
 */
function statedAs(
  statements: readonly InclusionStatement[],
  transfer: TokenTransfer | undefined,
): InclusionStatement | null {
  return (
    statements.find(({ tokenTransfer }) => tokenTransfer === transfer) ??
    statements.find(({ tokenTransfer }) => tokenTransfer !== 'moved') ??
    statements[0] ??
    null
  );
}

/**
 * Returns what two RPC nodes prove of a token payment: one of them alone proves neither that the
 * token moved nor that it did not. Undefined when two of them show the token's log.
 */
function transferAmong(statements: readonly Inclusion[]): TokenTransfer | undefined {
  const countOf = (transfer: TokenTransfer | undefined) =>
    statements.filter(({ tokenTransfer }) => tokenTransfer === transfer).length;
  const logged = countOf(undefined);
  const [isMoved, isUnmoved] = [logged + countOf('moved') >= 2, countOf('unmoved') >= 2];
  if (isMoved === isUnmoved) return 'unproven';
  if (isUnmoved) return 'unmoved';
  return logged >= 2 ? undefined : 'moved';
}

function withTransfer(inclusion: Inclusion, transfer: TokenTransfer | undefined): Inclusion {
  const { tokenTransfer: _, ...rest } = inclusion;
  return transfer === undefined ? rest : { ...rest, tokenTransfer: transfer };
}

/**
 * Returns the verdict of the other RPC nodes. A node that does not answer, or is behind the block,
 * does not contradict. One that has the block and not the transaction does: a receipt is easier to
 * forge than a block, and a forger names a block that exists.
 */
function verdictOf(answers: readonly Answer[], claim: Inclusion): SecondNodeVerdict {
  const contradicts = answers.some((answer) => (answer.ok ? !states(answer, claim) : isDenial(answer)));
  return contradicts ? 'disagrees' : 'away';
}

function isDenial(answer: Answer): boolean {
  return denialOf(answer) !== null;
}

const NOTHING = { type: 'absent', inMempool: false, nonceTaken: false } as const;

/**
 * Returns the answers with denials as absences, when no node that answers contradicts: the recorded
 * inclusion never existed, or is gone. An inclusion that two nodes have confirmed needs two
 * denials.
 */
function withDenials(answers: readonly Answer[], { watched: { inclusion } }: Watch): readonly Answer[] {
  const denials = answers.filter(isDenial).length;
  const shown = answers.filter((answer) => denialOf(answer) === 'block').length;
  const isOpen = answers.some((answer) => !answer.ok && !isDenial(answer) && answer.refusal.kind !== 'no-answer');
  // Two nodes that have read the whole block need no third.
  const isVoid = shown >= 2 || (denials >= (inclusion?.secondNode === 'agrees' ? 2 : 1) && !isOpen);
  return isVoid ? answers.map((answer) => (isDenial(answer) ? accepted(NOTHING) : answer)) : answers;
}

/**
 * Returns the result when no RPC node has an attempt in a block. Refuses when none of them can
 * determine it.
 */
function absenceAmong(all: readonly Answer[], watch: Watch): Result<Observation, NodeProblem> {
  const answers = withDenials(all, watch);
  const answered = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const absent = answered.filter((one) => one.type === 'absent');
  const waiting = absent.find(({ inMempool }) => inMempool);
  if (waiting !== undefined) {
    const isWithheld = absent.some((one) => !one.inMempool && !isUsed(one));
    return accepted(isWithheld ? { ...waiting, isWithheld: true } : waiting);
  }
  if (answered.length === 0) return refused(answers.find((answer) => !answer.ok)?.refusal ?? NO_NODE);
  if (answered.length === answers.length && absent.length === 0) return accepted({ type: 'lapsed' });
  if (absent.length === answers.length && absent.every(({ nonceTaken }) => nonceTaken)) {
    const takenBy = [...new Set(absent.flatMap((one) => one.takenBy ?? []))];
    return accepted({ ...NOTHING, nonceTaken: true, ...(takenBy.length === 0 ? {} : { takenBy }) });
  }
  if (absent.some(isUsed)) {
    // A denial of a block says nothing about the nonce, so it contradicts no other node.
    const isDisputed = all.some((answer) => answer.ok && answer.value.type === 'absent' && isUnused(answer.value));
    return accepted(isDisputed ? { ...NOTHING, isUseDisputed: true } : { ...NOTHING, isUnexplained: true });
  }
  // An honest node that has the block later would show the transaction in its mempool until then.
  if (answers.some(isUnshown) && absent.some(isUnused)) return accepted({ ...NOTHING, isUseDisputed: true });
  const isGone = absent.length > 0 && answered.every((one) => one.type === 'absent' && one.isCoinUnknown === true);
  if (isGone) return accepted({ ...NOTHING, isCoinUnknown: true });
  const lives = absent.flatMap(({ liveUntil }) => (liveUntil === undefined ? [] : [BigInt(liveUntil)]));
  if (lives.length < answers.length) return accepted(NOTHING);
  // The attempts count as over only after the latest of all stated blocks.
  return accepted({ ...NOTHING, liveUntil: lives.reduce((last, one) => (one > last ? one : last)).toString() });
}

type Absence = Extract<Observation, { readonly type: 'absent' }>;

function isUsed({ nonceTaken, isUnexplained }: Absence): boolean {
  return nonceTaken || isUnexplained === true;
}

/** Reports whether an RPC node states that the attempts can still be included. */
function isUnused(absence: Absence): boolean {
  return !isUsed(absence) && absence.isCoinUnknown !== true;
}
