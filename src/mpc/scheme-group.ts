import type { KeyScheme } from '#domain/asset/chain.ts';
import { ED25519 } from '#mpc/ed25519.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { SECP256K1 } from '#mpc/secp256k1.ts';

/** Calls `run` with the group of the keys of a scheme, and returns what it returns. */
export function inGroupOf<T>(scheme: KeyScheme, run: <P extends GroupPoint<P>>(group: Group<P>) => T): T {
  switch (scheme) {
    case 'frost-ed25519':
      return run(ED25519);
    case 'ecdsa-secp256k1':
    case 'frost-secp256k1-tr':
      return run(SECP256K1);
  }
}
