import type { Bug } from '../bug.ts';

/**
 * Bugs that turn an approval for one network into a signature for another, and bugs of vaults that
 * are older than the keys of their networks.
 */
export const NETWORK_BUGS: readonly Bug[] = [
  {
    name: 'networks: P2WPKH has one key on all of them',
    file: 'src/mpc/derivation/derivation.ts',
    was: "if (scheme === 'ecdsa-secp256k1' && !isBitcoinTestNetwork(chain)) return null;",
    is: "if (scheme === 'ecdsa-secp256k1') return null;",
    caughtBy: ['test/cosigner/signing/networks.test.ts'],
  },
  {
    name: 'networks: the key of P2WPKH on mainnet changes',
    file: 'src/domain/asset/chain.ts',
    was: "return caip2.startsWith('bip122:') && caip2 !== `bip122:${BITCOIN_MAINNET_GENESIS}`;",
    is: "return caip2.startsWith('bip122:');",
    caughtBy: ['test/mpc/ecdsa/derivation.test.ts'],
  },
  {
    name: 'networks: the derived key goes through the tweak of taproot',
    file: 'src/mpc/derivation/derivation.ts',
    was: "return scheme === 'frost-secp256k1-tr' ? throughTaproot(child, publicKey) : child;",
    is: "return scheme === 'frost-ed25519' ? child : throughTaproot(child, publicKey);",
    caughtBy: ['test/mpc/ecdsa/derivation.test.ts'],
  },
  {
    name: 'networks: typed data without chainId counts as bound to its chain',
    file: 'src/chains/evm/rules/message.ts',
    was: 'return !typed.ok || signedChainId(typed.value) === null;',
    is: 'return !typed.ok;',
    caughtBy: ['test/chains/inspect/exposure.test.ts'],
  },
  {
    name: 'networks: signers are not warned that an allowance of 0 may give a token away',
    file: 'src/chains/inspect/warnings.ts',
    was: "if (amount !== '0') return unlimited(amount, spender);",
    is: 'if (amount.length > 0) return unlimited(amount, spender);',
    caughtBy: ['test/chains/inspect/warnings.test.ts'],
  },
  {
    name: 'networks: the exposure of a text does not say that no chain is named',
    file: 'src/chains/inspect/exposure.ts',
    was: 'return isUnboundMessage(action) ? { ...stake, isUnbound: true } : stake;',
    is: 'return stake;',
    caughtBy: ['test/attacks/coordinator/payload/message-on-every-chain.test.ts'],
  },
  {
    name: 'networks: signers are not warned of a message that names no chain',
    file: 'src/chains/inspect/message-warnings.ts',
    was: 'if (!isUnboundMessage(intent)) return [];',
    is: "if (intent.kind === 'message') return [];",
    caughtBy: ['test/attacks/coordinator/payload/message-on-every-chain.test.ts'],
  },
];
