import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';
import type { Finding } from './finding.ts';
import type { WorkerFile } from './worker-file.ts';
import { isCosigner } from './worker-file.ts';

/** Returns what does not fit together in the configurations of several Workers. */
export function checkDeployment(files: readonly WorkerFile[]): readonly Finding[] {
  const cosigners = files.filter(isCosigner);
  return [
    ...equalSettings(cosigners, 'NODE_INDEX', 'is the same'),
    ...equalSettings(cosigners, 'RECOVERY_KEY', 'is the same, so that one secret opens several shares,'),
    ...differingSettings(cosigners, 'PEERS'),
    ...differingSettings(cosigners, 'COORDINATOR_KEY'),
    ...missingCosigners(files),
    ...wrongBindings(files),
  ];
}

function valuesOf(files: readonly WorkerFile[], name: string) {
  const named = files.map(({ name: part, vars }) => ({ part, value: vars[name] ?? '' }));
  return Map.groupBy(
    named.filter(({ value }) => value !== ''),
    ({ value }) => value,
  );
}

function partsOf(some: readonly { readonly part: string }[]): string {
  return some.map(({ part }) => part).join(', ');
}

function equalSettings(files: readonly WorkerFile[], name: string, what: string): readonly Finding[] {
  return [...valuesOf(files, name).values()].flatMap((some): readonly Finding[] =>
    some.length < 2
      ? []
      : [{ level: 'fault', part: partsOf(some), name, detail: `${name} ${what} at these co-signers.` }],
  );
}

function differingSettings(files: readonly WorkerFile[], name: string): readonly Finding[] {
  const groups = [...valuesOf(files, name).values()];
  if (groups.length < 2) return [];
  return [
    { level: 'fault', part: groups.map(partsOf).join(' / '), name, detail: `${name} differs between co-signers.` },
  ];
}

/** Each co-signer must be bound at the coordinator, or have an address there. */
function missingCosigners(files: readonly WorkerFile[]): readonly Finding[] {
  const coordinator = files.find((file) => !isCosigner(file));
  const cosigners = files.filter(isCosigner);
  if (coordinator === undefined || cosigners.length === 0) return [];
  const urls = jsonIn(coordinator.vars['COSIGNER_URLS'] ?? '');
  const reached = new Set([
    ...coordinator.services.map(({ binding }) => binding.replace('COSIGNER_', '')),
    ...(isJsonObject(urls) ? Object.keys(urls) : []),
  ]);
  return cosigners.flatMap(({ name: part, vars }): readonly Finding[] => {
    const number = vars['NODE_INDEX'] ?? '';
    if (reached.has(number)) return [];
    const detail = `${coordinator.name} neither binds co-signer ${number} nor has an address of it.`;
    return [{ level: 'fault', part, name: 'COSIGNER_URLS', detail }];
  });
}

/** A binding with a number must lead to the co-signer of that number. */
function wrongBindings(files: readonly WorkerFile[]): readonly Finding[] {
  const cosigners = files.filter(isCosigner);
  return files.flatMap(({ name: part, services }) =>
    services.flatMap(({ binding, service }): readonly Finding[] => {
      const number = cosigners.find(({ name }) => name === service)?.vars['NODE_INDEX'];
      if (number === undefined || binding === `COSIGNER_${number}`) return [];
      return [{ level: 'fault', part, name: binding, detail: `${service} is co-signer ${number}.` }];
    }),
  );
}
