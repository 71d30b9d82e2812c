import type { Bug } from '../bug.ts';

/**
 * Bugs that turn an approval for one network into a signature for another, bugs of vaults that are
 * older than the keys of their networks, and bugs in what operators depend on: the nodes of a
 * network, the tests of co-signers, and what the service deletes.
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
  {
    name: 'the bytes of a day are not limited',
    file: 'src/objects/person/budgets.ts',
    was: 'window.room(quota, nowMs) >= bytes',
    is: 'window.room(quota, nowMs) >= 0',
    caughtBy: ['test/attacks/member/fills-lists.worker.test.ts'],
  },
  {
    name: 'a draft is deleted although a signer approved it once',
    file: 'src/objects/vault/storage.ts',
    was: 'if (this.approvals.put(before, after)) this.retention.keep(after);',
    is: 'this.approvals.put(before, after);',
    caughtBy: ['test/objects/vault/writes/pruning.worker.test.ts'],
  },
  {
    name: 'a deleted draft stays in the read model',
    file: 'src/objects/vault/outbox-drain.ts',
    was: 'const deleted = found.flatMap(({ id, record }) => (record === null && storage.retention.isPruned(id) ? [id] : []));',
    is: 'const deleted: readonly string[] = [];',
    caughtBy: ['test/objects/vault/writes/pruning.worker.test.ts'],
  },
  {
    name: 'two URLs of one host are two RPC nodes',
    file: 'src/chains/clients/rpc-urls.ts',
    was: 'if (providers === null && !isDistinct(hostOf)) {',
    is: 'if (providers === null && urls.length < 0) {',
    caughtBy: ['test/attacks/network/node-named-twice.test.ts'],
  },
  {
    name: 'RPC nodes with different blocks are healthy',
    file: 'src/domain/operations/rpc-node.ts',
    was: "return hashes.size > 1 && hash !== undefined ? 'differs' : null;",
    is: 'return hash === undefined ? null : null;',
    caughtBy: ['test/chains/rpc/node-probe.test.ts'],
  },
  {
    name: 'a co-signer without a share passes its self-test',
    file: 'src/cosigner/key/share-store.ts',
    was: "return { epoch: null, madeAtMs: null, fault: 'missing' };",
    is: 'return { epoch: null, madeAtMs: null, fault: null };',
    caughtBy: ['test/cosigner/self-test.test.ts'],
  },
  {
    name: 'an alert that is over stays open',
    file: 'src/store/operations/alerts.ts',
    was: 'db.prepare(others).bind(nowMs, JSON.stringify(codes), JSON.stringify(found.map(alertIdOf))),',
    is: "db.prepare(others).bind(nowMs, '[]', JSON.stringify([...codes, ...found.map(alertIdOf)])),",
    caughtBy: ['test/store/alerts.worker.test.ts'],
  },
  {
    name: 'an acknowledgement hides later failures',
    file: 'src/store/operations/alerts.ts',
    was: 'acknowledged_at_ms >= coalesce(excluded.newest_at_ms, 0)',
    is: 'acknowledged_at_ms >= 0',
    caughtBy: ['test/store/alerts.worker.test.ts'],
  },
  {
    name: 'an alert that the receiver refuses counts as received',
    file: 'src/jobs/operations/announce-alerts.ts',
    was: "if (outcome === 'accepted') await markAnnounced",
    is: "if (outcome !== 'away') await markAnnounced",
    caughtBy: ['test/jobs/operations/announce-alerts.worker.test.ts'],
  },
  {
    name: 'an old test message answers for a later one',
    file: 'src/store/operations/queue-probes.ts',
    was: '.where(and(eq(queueProbes.queue, queue), isAnswered));',
    is: '.where(and(eq(queueProbes.queue, queue), or(isAnswered, isNull(queueProbes.returnedAtMs), lte(queueProbes.returnedAtMs, nowMs))));',
    caughtBy: ['test/jobs/operations/probe-queues.worker.test.ts'],
  },
  {
    name: 'a service is ready without a sweep',
    file: 'src/domain/operations/alert.ts',
    was: 'return lastSweepAtMs === null || lastSweepAtMs < nowMs - MISSED_SWEEP_MS;',
    is: 'return lastSweepAtMs !== null && lastSweepAtMs < nowMs - MISSED_SWEEP_MS;',
    caughtBy: ['test/http/health.worker.test.ts'],
  },
  {
    name: 'doctor does not compare the files of several Workers',
    file: 'cli/doctor/deployment-check.ts',
    was: "...differingSettings(cosigners, 'PEERS'),",
    is: "...differingSettings(cosigners, 'NO_SETTING'),",
    caughtBy: ['test/cli/doctor/doctor.test.ts'],
  },
  {
    name: 'a request of the command line sends its secret in the clear',
    file: 'cli/command-line.ts',
    was: 'if (!URL.canParse(url) || !isSecureAddress(url))',
    is: 'if (!URL.canParse(url))',
    caughtBy: ['test/cli/conclave.test.ts'],
  },
];
