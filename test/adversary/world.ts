import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { Coordinator } from './coordinator.ts';
import type { Group, HonestCosigner } from './cosigner.ts';
import type { Oracle } from './oracle.ts';
import type { People } from './people.ts';
import type { Chance } from './random.ts';
import type { Signers } from './signer.ts';

/** One game: its parties, and what each of them knows. */
export interface World {
  readonly chance: Chance;
  readonly group: Group;
  readonly honest: ReadonlyMap<PartyIndex, HonestCosigner>;
  /** The hostile co-signers. The coordinator has their secrets and signs anything with them. */
  readonly hostile: ReadonlyMap<PartyIndex, CosignerSet>;
  readonly people: People;
  readonly signers: Signers;
  readonly oracle: Oracle;
  readonly coordinator: Coordinator;
  readonly say: (words: string) => void;
}
