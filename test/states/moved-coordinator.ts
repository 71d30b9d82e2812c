import { moveAlarms } from './moved-clock.ts';
import { sweep } from '#jobs/sweep.ts';
import worker, {
  AccessTokenObject,
  PersonObject as Person,
  SessionObject,
  VaultObject as Vault,
  WalletNonceObject,
} from '../../src/worker.ts';

/** The coordinator with a moved clock. */

export { AccessTokenObject, SessionObject, WalletNonceObject };

export class VaultObject extends Vault {
  constructor(...[ctx, env]: ConstructorParameters<typeof Vault>) {
    moveAlarms(ctx);
    super(ctx, env);
  }
}

export class PersonObject extends Person {
  constructor(...[ctx, env]: ConstructorParameters<typeof Person>) {
    moveAlarms(ctx);
    super(ctx, env);
  }
}

/** The time of a cron run comes from the platform, whose clock is not moved. */
export default {
  ...worker,
  scheduled: (_event, env) => sweep(env, { nowMs: Date.now(), settingFaults: [], fingerprints: [] }),
} satisfies typeof worker;
