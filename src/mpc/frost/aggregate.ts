import { abortedBy, abortedByOneOf, completed, type RoundResult } from '#mpc/abort.ts';
import type { FrostKey, Suite } from '#mpc/frost/suite.ts';
import { commitmentList, identifierOf, malformedAmong, publicPackage, suiteOf } from '#mpc/frost/suite.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, equalParts } from '#mpc/transcript.ts';

const SHARE_BYTES = 32;

/**
 * RFC 9591 section 5.3, Signature Share Aggregation, by the coordinator, which holds no secret. "The Coordinator SHOULD verify each
 * signature share": it does where the sum does not verify, and names who sent the wrong one (section 5.4, identifiable abort). Gives 64
 * bytes, R and z as the scheme's standard encodes them, and nothing that does not verify by that standard.
 *
 * Refuses: a malformed share (its sender); two views of the commitments (one of the signers, and nobody can tell which); commitments that
 * are no points (their sender); a share that is wrong (its sender). Who it was is looked for only where there is no signature.
 */
export function aggregate(input: {
  readonly key: FrostKey;
  readonly message: Uint8Array;
  readonly partials: ReadonlyMap<PartyIndex, Uint8Array>;
}): RoundResult<Uint8Array> {
  const { key, message, partials } = input;
  const suite = suiteOf(key.scheme);
  const signers = [...partials.keys()];
  const [first] = signers;
  if (first === undefined) throw new Error('a signature has signers');
  const length = SHARE_BYTES + signers.length * 2 * suite.pointBytes;
  for (const [signer, partial] of partials) {
    if (partial.length !== length) return abortedBy(signer, 'frost-aggregate/malformed');
  }
  const seen = [...partials.values()].map((partial) => partial.subarray(SHARE_BYTES));
  const agreed = seen[0] ?? new Uint8Array();
  if (!seen.every((one) => equalBytes(one, agreed))) return abortedByOneOf(signers, 'frost-aggregate/commitments');
  const parts = equalParts(agreed, signers.length);
  const all = new Map(signers.map((signer, i) => [signer, parts[i] ?? new Uint8Array()] as const));
  const shares = new Map([...partials].map(([signer, partial]) => [signer, partial.slice(0, SHARE_BYTES)] as const));
  const signature = sum(suite, { key, message, all, shares });
  if (signature === null) {
    const wrong = malformedAmong(key.scheme, all);
    if (wrong !== null) return abortedBy(wrong, 'frost-aggregate/commitments');
    const liar = signers.find((signer) => !isGenuine(suite, { key, message, all, shares }, signer));
    return liar === undefined
      ? abortedByOneOf(signers, 'frost-aggregate/signature')
      : abortedBy(liar, 'frost-aggregate/share');
  }
  // Said twice: what leaves here is looked at by code that knows nothing of thresholds.
  if (!suite.verify(signature, message, key.publicKey)) return abortedByOneOf(signers, 'frost-aggregate/signature');
  return completed(signature);
}

interface Sum {
  readonly key: FrostKey;
  readonly message: Uint8Array;
  readonly all: ReadonlyMap<PartyIndex, Uint8Array>;
  readonly shares: ReadonlyMap<PartyIndex, Uint8Array>;
}

/** Null for a sum that is no signature; noble throws for one, and for a share that is no scalar. */
function sum(suite: Suite, { key, message, all, shares }: Sum): Uint8Array | null {
  const named = Object.fromEntries([...shares].map(([signer, share]) => [identifierOf(suite, signer), share]));
  try {
    return suite.frost.aggregate(publicPackage(suite, key), commitmentList(suite, all), message, named);
  } catch {
    return null;
  }
}

function isGenuine(suite: Suite, { key, message, all, shares }: Sum, signer: PartyIndex): boolean {
  const share = shares.get(signer) ?? new Uint8Array();
  const list = commitmentList(suite, all);
  try {
    return suite.frost.verifyShare(publicPackage(suite, key), list, message, identifierOf(suite, signer), share);
  } catch {
    return false;
  }
}
