import type { BroadcastVerdict } from '#chains/chain-adapter.ts';
import { askSend } from '#chains/bitcoin/question.ts';
import type { Fleet } from '#chains/fleet.ts';
import { NO_NODE } from '#chains/fleet.ts';

/** The words of Bitcoin Core's mempool, which every Esplora server passes on. */
const KNOWN = /already in (?:block chain|mempool|utxo set)|txn-already|already known/i;
const SPENT = /missingorspent|missing-inputs|txn-mempool-conflict|bad-txns-spends-conflicting/i;
const TOO_CHEAP =
  /min relay fee not met|mempool min fee not met|insufficient fee|insufficient priority|fee rate too low/i;
const WRONG =
  /script-verify-flag|bad-txns-(?!inputs)|bad-witness|scriptsig|dust|max-fee-exceeded|absurdly-high|non-standard|decode failed/i;

/**
 * Hands signed bytes to one server after the other, until one takes them. A coin that is spent may be spent by an earlier attempt, or by
 * these very bytes in a block: the chain will tell.
 */
export async function broadcastSigned(fleet: Fleet, raw: string, hash: string): Promise<BroadcastVerdict> {
  let verdict: BroadcastVerdict | null = null;
  let reason = NO_NODE.detail;
  for (const node of fleet.nodes) {
    const trouble = await fleet.trouble(node);
    if (trouble !== null) {
      reason = trouble.detail;
      continue;
    }
    const answer = await node.ask(askSend(raw.slice(2)));
    if (answer.ok && answer.value === hash) return { outcome: 'accepted' };
    reason = answer.ok ? 'the node names another hash' : answer.refusal.detail;
    const judged = answer.ok || answer.refusal.kind === 'no-answer' ? null : judgementOf(reason);
    if (judged?.outcome === 'accepted') return judged;
    // Who does not know, or says otherwise, leaves it open: a refusal for good takes every node that was asked.
    verdict = judged === null || (verdict !== null && verdict.outcome !== judged.outcome) ? unknown(reason) : judged;
    if (verdict.outcome === 'unknown') return verdict;
  }
  return verdict ?? unknown(reason);
}

/** Null for words that nobody here knows. */
function judgementOf(answer: string): BroadcastVerdict | null {
  if (KNOWN.test(answer)) return { outcome: 'accepted' };
  if (TOO_CHEAP.test(answer)) return { outcome: 'underpriced', answer };
  if (SPENT.test(answer)) return { outcome: 'conflicted', answer };
  return WRONG.test(answer) ? { outcome: 'refused', answer } : null;
}

function unknown(answer: string): BroadcastVerdict {
  return { outcome: 'unknown', answer };
}
