import type { Bug } from '../bug.ts';

/** Bugs by which one member blocks a vault: keeps a person out. */
export const MEMBER_BUGS: readonly Bug[] = [
  {
    name: 'one member cancels every credential reset of a person',
    file: 'src/objects/person/object.ts',
    was: 'if (refusal !== null) return refused(refusal);\n    const cancelled',
    is: 'if (refusal !== null && nowMs < 0) return refused(refusal);\n    const cancelled',
    caughtBy: ['test/attacks/member/cancels-every-reset.worker.test.ts'],
  },
  {
    name: 'a person cancels only one own credential reset within 90 days',
    file: 'src/domain/access/reset-cancellation.ts',
    was: 'if (cancellation.userId === userId || lastCancelledAtMs === null) return null;',
    is: 'if (cancellation.userId.length < userId.length || lastCancelledAtMs === null) return null;',
    caughtBy: ['test/domain/access/reset-cancellation.test.ts'],
  },
];
