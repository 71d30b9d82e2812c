import { parseFeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { cosignerSettingFaults } from '#cosigner/setting-faults.ts';
import type { Finding } from './finding.ts';
import type { WorkerFile } from './worker-file.ts';

type Secrets = Readonly<Record<string, string>>;

const SECRET = ['IDENTITY_SECRET', 'KEY_ENCRYPTION_SECRETS'];

/**
 * The fees of the smallest transaction at the lowest price of each kind of chain, in the smallest
 * unit: 21,000 gas at 1 wei, 110 virtual bytes at 1 satoshi, one signature of Solana.
 */
const MIN_FEES: Readonly<Record<string, bigint>> = { eip155: 21_000n, bip122: 110n, solana: 5_000n };

/**
 * Returns what is wrong with the configuration of a co-signer.
 *
 * @param secrets null when they are not given: then only the settings in the file are checked
 */
export function checkCosigner(file: WorkerFile, secrets: Secrets | null): readonly Finding[] {
  const { name: part, vars } = file;
  const isKnown = (name: string) => secrets !== null || name in vars || !SECRET.includes(name);
  const settings: Partial<CosignerConfig> = { ...vars, ...secrets };
  const faults = cosignerSettingFaults(settings).filter(({ name }) => isKnown(name));
  const inFile = SECRET.filter((name) => (vars[name] ?? '') !== '');
  const warning = (name: string, detail: string): Finding => ({ level: 'warning', part, name, detail });
  return [
    ...faults.map(({ name, fault }) => ({ level: 'fault', part, name, detail: fault }) as const),
    ...inFile.map((name) => ({ level: 'fault', part, name, detail: `${name} must be a secret.` }) as const),
    ...((settings.RECOVERY_KEY ?? '') === ''
      ? [warning('RECOVERY_KEY', 'The co-signer gives no recovery packages, so its shares are lost with it.')]
      : []),
    ...((settings.COORDINATOR_KEY ?? '') === ''
      ? [warning('COORDINATOR_KEY', 'Only service bindings of its account reach the co-signer.')]
      : []),
    ...(faults.some(({ name }) => name === 'MAX_FEES') ? [] : tooLowFees(part, settings.MAX_FEES ?? '')),
  ];
}

function tooLowFees(part: string, setting: string): readonly Finding[] {
  return [...parseFeeCeilings(setting)].flatMap(([chain, ceiling]): readonly Finding[] => {
    const lowest = MIN_FEES[chain.split(':')[0] ?? ''] ?? 0n;
    if (BigInt(ceiling) >= lowest) return [];
    const detail = `No transaction of ${chain} has a fee this low, so the co-signer signs none.`;
    return [{ level: 'fault', part, name: 'MAX_FEES', detail }];
  });
}
