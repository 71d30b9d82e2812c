import { confusables, skeletonOf } from '#chains/inspect/confusable.ts';
import { impersonatedSymbol } from '#chains/inspect/token-impersonation.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { listedToken } from '#domain/asset/chain.ts';
import { policyToken, rejectionsRequired } from '#domain/policy/optional-rules.ts';
import { needsReceipts, thresholdForChange } from '#domain/policy/policy.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { visibleText } from '#domain/visible-text.ts';
import { knownChain } from '#review/fact.ts';

/** Returns a warning for each way in which a policy protects less than the one in force. */
export function weakenings(inForce: Policy, proposed: Policy): readonly string[] {
  const faults = [...quorumFaults(inForce, proposed), ...ruleFaults(inForce.rules, proposed)];
  return faults.filter(([holds]) => holds).map(([, text]) => text);
}

type Faults = readonly (readonly [holds: boolean, text: string])[];

function quorumFaults(inForce: Policy, proposed: Policy): Faults {
  const newSigners = proposed.signers.filter((userId) => !inForce.signers.includes(userId));
  const removed = inForce.signers.filter((userId) => !proposed.signers.includes(userId));
  const origin = soleOrigin(proposed);
  const newDevices = proposed.devices.filter(({ keyId }) => inForce.devices.every((device) => device.keyId !== keyId));
  return [
    [proposed.threshold < inForce.threshold, 'A transaction requires fewer approvals than before.'],
    [
      thresholdForChange(proposed) < thresholdForChange(inForce),
      'A policy change requires fewer approvals than before.',
    ],
    [
      inForce.approvalMode === 'device' && proposed.approvalMode === 'token',
      'Device signatures are no longer required. The server alone determines which signers approved.',
    ],
    [newSigners.length > 0, `New signers: ${newSigners.length}.`],
    [removed.length > 0, `Removed signers: ${removed.length}. They can no longer approve or reject anything.`],
    [origin !== null && soleOrigin(inForce) === null, soleOriginText(origin ?? '')],
    [newDevices.length > 0, `New devices: ${newDevices.length}. Compare each key ID with its owner.`],
    [
      JSON.stringify(inForce.cosigners ?? null) !== JSON.stringify(proposed.cosigners ?? null),
      'The keys of the co-signers change. Compare the new keys with the operators of the co-signers.',
    ],
    [
      needsReceipts(inForce) && !needsReceipts(proposed),
      'Receipts of every co-signer are no longer required. Hostile co-signers can sign a payment twice.',
    ],
  ];
}

/**
 * Returns the only approval page without whose passkeys no policy change can be approved, or null.
 * A passkey is bound to the host name of its page: when that name is lost, so are the passkeys.
 */
export function soleOrigin(policy: Policy): string | null {
  const { approvalMode, devices } = policy;
  if (approvalMode === 'token') return null;
  const origins = new Set(devices.flatMap((device) => (device.algorithm === 'webauthn-p256' ? [device.origin] : [])));
  for (const origin of origins) {
    const others = devices.filter((device) => device.algorithm !== 'webauthn-p256' || device.origin !== origin);
    if (new Set(others.map(({ userId }) => userId)).size < thresholdForChange(policy)) return origin;
  }
  return null;
}

export function soleOriginText(origin: string): string {
  return (
    `Without the page ${visibleText(origin)} no quorum can approve anything, not even new devices. ` +
    'Add an Ed25519 device, or a passkey of another approval page, for each signer of a quorum.'
  );
}

function ruleFaults(now: Rules, { rules: then, threshold }: Policy): Faults {
  const alike = confusables(then.addressBook.map(({ name }) => name)) ?? [];
  const imitated = imitatedSymbols(then);
  return [
    [
      now.recipients === 'address-book' && then.recipients === 'anyone',
      'Payments can go to any address, not only to the address book.',
    ],
    [then.recipients === 'address-book' && hasNewRecipient(now, then), 'Payments can go to new addresses.'],
    [isRenamed(now, then), 'A name in the address book stands for another address, or looks like one that does.'],
    [
      alike.length > 0,
      `Names in the address book look alike: ${alike.map((name) => `“${visibleText(name)}”`).join(' and ')}.`,
    ],
    [
      imitated.length > 0,
      `A token has a symbol that looks like another asset: ${imitated.join(', ')}. Compare the contracts.`,
    ],
    [
      hasOtherUnits(now, then),
      'A token has another symbol or other decimals than before. Its amounts read differently.',
    ],
    [contradictsBuild(then), 'A token has other decimals than the list of this build. Its amounts would be wrong.'],
    [
      (then.unreadableThreshold ?? Infinity) < (now.unreadableThreshold ?? Infinity),
      now.unreadableThreshold === null
        ? 'Blind signing is allowed.'
        : 'Blind signing requires fewer approvals than before.',
    ],
    [hasHigherLimit(now, then), 'A limit is higher than before, or is removed.'],
    [hasHigherStep(now, then, threshold), 'An amount requires fewer approvals than before.'],
    [hasHigherFee(now, then), 'A maximum fee is higher than before, or is removed.'],
    [
      now.limitsIncludeFees === true && then.limitsIncludeFees !== true,
      'Fees no longer count toward limits and higher thresholds.',
    ],
    [
      now.requiredDevice === 'ed25519' && then.requiredDevice !== 'ed25519',
      'No Ed25519 device is required any more. Passkeys alone can approve.',
    ],
    [
      now.unboundMessages === 'refuse' && then.unboundMessages !== 'refuse',
      'Messages that are valid on every chain can be signed.',
    ],
    [rejectionsRequired(then) > rejectionsRequired(now), 'More rejections are required to end a transaction.'],
    [isReadmitted(now, then), 'An operator can add a person again whom the signers excluded.'],
  ];
}

function isReadmitted({ excludedMembers = [] }: Rules, then: Rules): boolean {
  return excludedMembers.some((userId) => then.excludedMembers?.includes(userId) !== true);
}

/** Reports whether a bound allows more than before; null is no bound. */
function isRaised(now: Amount | null, then: Amount | null): boolean {
  return now !== null && (then === null || unitsOf(then) > unitsOf(now));
}

function hasNewRecipient(now: Rules, then: Rules): boolean {
  return then.addressBook.some((entry) =>
    now.addressBook.every(({ chain, address }) => chain !== entry.chain || address !== entry.address),
  );
}

/**
 * Reports whether a name that signers know gets an address that it did not have, also in another
 * spelling.
 */
function isRenamed(now: Rules, then: Rules): boolean {
  return then.addressBook.some(({ chain, address, name }) => {
    const skeleton = skeletonOf(name);
    const known = now.addressBook.filter((entry) => entry.chain === chain && skeletonOf(entry.name) === skeleton);
    return known.length > 0 && known.every((entry) => entry.address !== address);
  });
}

/** Returns the symbols of tokens that look like the symbol of another asset of their chain. */
function imitatedSymbols({ tokens = [] }: Rules): readonly string[] {
  return tokens.flatMap(({ chain: caip2, tokenAddress, symbol }, i) => {
    const chain = knownChain(caip2);
    const others = [
      ...tokens.filter((one, k) => k < i && one.chain === caip2).map((one) => one.symbol),
      ...(chain?.tokens ?? []).filter(({ address }) => address !== tokenAddress).map((one) => one.symbol),
      ...(chain === null ? [] : [chain.nativeSymbol]),
    ];
    return impersonatedSymbol(symbol, others) === null ? [] : [`“${visibleText(symbol)}”`];
  });
}

function hasOtherUnits(now: Rules, then: Rules): boolean {
  return (now.tokens ?? []).some((token) => {
    const next = policyToken(then, token.chain, token.tokenAddress);
    return next !== null && (next.symbol !== token.symbol || next.decimals !== token.decimals);
  });
}

function contradictsBuild({ tokens = [] }: Rules): boolean {
  return tokens.some(({ chain: caip2, tokenAddress, decimals }) => {
    const chain = knownChain(caip2);
    const listed = chain === null ? null : listedToken(chain, tokenAddress);
    return listed !== null && listed.decimals !== decimals;
  });
}

function hasHigherLimit(now: Rules, then: Rules): boolean {
  return now.limits.some((limit) => {
    const next = then.limits.find(
      ({ chain, tokenAddress }) => chain === limit.chain && tokenAddress === limit.tokenAddress,
    );
    return isRaised(limit.perTransaction, next?.perTransaction ?? null) || isRaised(limit.perDay, next?.perDay ?? null);
  });
}

/**
 * Reports whether some amount of an asset triggers fewer approvals than before.
 *
 * @param base the approvals that every transaction requires from now on
 */
function hasHigherStep(now: Rules, then: Rules, base: number): boolean {
  const steps = now.higherThresholds.filter(({ threshold }) => threshold > base);
  return steps.some(({ chain, tokenAddress, above, threshold }) =>
    then.higherThresholds.every(
      (step) =>
        step.chain !== chain ||
        step.tokenAddress !== tokenAddress ||
        unitsOf(step.above) > unitsOf(above) ||
        step.threshold < threshold,
    ),
  );
}

function hasHigherFee(now: Rules, then: Rules): boolean {
  return (now.maxFees ?? []).some(({ chain, amount }) =>
    isRaised(amount, then.maxFees?.find((cap) => cap.chain === chain)?.amount ?? null),
  );
}
