import { streamedRequest } from './streamed-request.ts';
import { serve } from '#cosigner/api/app.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';
import { CosignerObject } from '#cosigner/api/object.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { WIRE_VERSIONS } from '#domain/access/cosigner-request.ts';
import { newCosignerSecrets, peersOf } from '#local/stack/configuration.ts';
import { memorySql } from '../objects/memory-sql.ts';
import { watchedClients } from './cosigners.ts';

/** One co-signer: its objects that are in memory, and the storage of each of them. */
class Machine {
  secrets = newCosignerSecrets();
  readonly #stored = new Map<string, SqlStorage>();
  readonly #objects = new Map<string, CosignerObject>();
  readonly #index: number;

  constructor(index: number) {
    this.#index = index;
  }

  /** Restarts the co-signer: its memory is lost, its storage is kept. */
  forget(): void {
    this.#objects.clear();
  }

  /** Replaces the co-signer by a new machine: its memory, its storage and its secrets are lost. */
  replace(): void {
    this.forget();
    this.#stored.clear();
    this.secrets = newCosignerSecrets();
  }

  /** Returns the storage of an object, whose memory does not notice a write of another one. */
  storageOf(name: string): SqlStorage {
    const sql = this.#stored.get(name) ?? memorySql();
    this.#stored.set(name, sql);
    return sql;
  }

  environment(peers: string): CosignerEnv {
    const { identity, keyEncryption } = this.secrets;
    const env: CosignerEnv = {
      NODE: { getByName: (name: string) => this.#stubOf(name, env) } as unknown as CosignerEnv['NODE'],
      NODE_INDEX: String(this.#index),
      PEERS: peers,
      IDENTITY_SECRET: identity,
      KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'memory-1', secret: keyEncryption }]),
    };
    return env;
  }

  /** Copies the arguments and results of a call, as a call between two isolates does. */
  #stubOf(name: string, env: CosignerEnv): object {
    return new Proxy(this.#objectOf(name, env), {
      get: (object, method) => {
        const found: unknown = Reflect.get(object, method);
        if (typeof found !== 'function') return undefined;
        return async (...given: unknown[]) =>
          structuredClone((await found.apply(object, structuredClone(given))) as unknown);
      },
    });
  }

  #objectOf(name: string, env: CosignerEnv): CosignerObject {
    const sql = this.storageOf(name);
    const object = this.#objects.get(name) ?? new CosignerObject(contextOver(sql), env);
    this.#objects.set(name, object);
    return object;
  }
}

/** Returns the part of a Durable Object's context that a co-signer uses. */
function contextOver(sql: SqlStorage): DurableObjectState {
  const waitUntil = (work: Promise<unknown>) => void work.catch(() => {});
  return { storage: { sql }, waitUntil } as unknown as DurableObjectState;
}

/**
 * Co-signers in this process: the Worker's own code over SQLite in memory, called through a service
 * binding. A restart costs nothing here, so a loop can cut a run off at every step. Storage on
 * disk, eviction and HTTP are proven with `startCosigners`, in workerd.
 *
 * @param versions of the requests that their coordinator speaks
 */
export function cosignersInMemory(count = 3, versions = WIRE_VERSIONS) {
  const machines = Array.from({ length: count }, (_, i) => new Machine(i + 1));
  const running = new Set<Promise<unknown>>();
  let environments: readonly CosignerEnv[] = [];
  const configure = () => {
    const peers = peersOf(machines.map(({ secrets }) => secrets));
    for (const machine of machines) machine.forget();
    environments = machines.map((machine) => machine.environment(peers));
  };
  configure();

  const clients = watchedClients(count, (index) => {
    const fetch = (url: string, init?: RequestInit) => {
      const env = environments[index - 1];
      if (env === undefined) throw new Error(`there is no co-signer ${index}`);
      const served = serve(streamedRequest(url, init), env);
      running.add(served);
      void served.finally(() => running.delete(served)).catch(() => {});
      return served;
    };
    const door = { origin: 'http://cosigner', fetcher: { fetch }, coordinatorSecret: null };
    return cosignerClient(index, door, versions);
  });
  /**
   * Pending calls end first: a machine that dies in the middle of a request is tested in workerd.
   */
  const settled = () => Promise.allSettled(running);
  return {
    ...clients,
    /** Returns the storage of one object of each co-signer. Restart them after a write. */
    storagesOf: (name: string) => machines.map((machine) => machine.storageOf(name)),
    /** Restarts all co-signers: their memory is lost, their storage is kept. */
    restart: async () => {
      await settled();
      configure();
    },
    /** Restarts a co-signer with another key-encryption secret, as by a wrong setting. */
    encryptWith: async (index: number, keyEncryption: string) => {
      await settled();
      const machine = machines[index - 1];
      if (machine !== undefined) machine.secrets = { ...machine.secrets, keyEncryption };
      configure();
    },
    /**
     * Replaces a co-signer by a new machine with empty storage and new secrets. The other
     * co-signers pin its new keys.
     */
    replace: async (index: number) => {
      await settled();
      machines[index - 1]?.replace();
      configure();
    },
  };
}
