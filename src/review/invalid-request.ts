/**
 * A request that cannot be decided. The message is a sentence for the person.
 *
 * - `contradiction`: its parts do not belong together. An honest service sends no such request.
 * - `expired`: the time for the decision is over.
 * - `outdated`: it names a policy that is no longer in force.
 */
export class InvalidRequest extends Error {
  readonly kind: 'contradiction' | 'expired' | 'outdated';

  constructor(message: string, kind: InvalidRequest['kind'] = 'contradiction') {
    super(message);
    this.kind = kind;
  }
}
