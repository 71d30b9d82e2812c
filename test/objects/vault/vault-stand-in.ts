import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/**
 * Returns a stand-in of a vault that answers consumers and takes reports, by their type. Any other
 * type throws.
 */
export function vaultStandIn(answers: Readonly<Record<string, (given: never) => unknown>>): VaultDoors {
  const answer = async (given: { readonly type: string }) => {
    const found = answers[given.type];
    if (found === undefined) throw new Error(`the stand-in of a vault knows no ${given.type}`);
    return found(given as never);
  };
  const doors = { work: answer, report: answer };
  return doors as unknown as VaultDoors;
}
