import { Inspector } from './inspector.ts';

/** A CPU profile of V8 (`Profiler.stop`): a tree of calls, and the call at each sample. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** The time of one function in an isolate, by itself and with all functions that it calls. */
export interface Cost {
  readonly isolate: string;
  readonly what: string;
  readonly selfMs: number;
  readonly totalMs: number;
}

const SAMPLING_INTERVAL_US = 2_000;
/** V8's names for time in which no function ran. */
const RESTING = new Set(['(root)', '(program)', '(idle)']);

/** Profiles every isolate during some work, and returns the costs, the highest first. */
export async function profileOf<T>(
  inspectorUrl: string,
  work: () => Promise<T>,
): Promise<{ readonly costs: readonly Cost[]; readonly result: T }> {
  const inspectors = await Inspector.ofAll(inspectorUrl);
  for (const inspector of inspectors.values()) {
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
    await inspector.call('Profiler.start');
  }
  try {
    const result = await work();
    const costs: Cost[] = [];
    for (const [isolate, inspector] of inspectors) {
      const { profile } = (await inspector.call('Profiler.stop')) as { readonly profile: CpuProfile };
      costs.push(...costsIn(isolate, profile));
    }
    return { costs: costs.toSorted((a, b) => b.selfMs - a.selfMs), result };
  } finally {
    for (const inspector of inspectors.values()) inspector.close();
  }
}

/**
 * Returns the costs of each function. The total of a recursive function counts each sample once.
 */
export function costsIn(isolate: string, { nodes, samples, timeDeltas }: CpuProfile): readonly Cost[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const nameOf = (id: number) => {
    const { functionName, lineNumber } = byId.get(id)?.callFrame ?? { functionName: '', lineNumber: 0 };
    return lineNumber > 0 ? `${functionName || 'anonymous'}:${lineNumber + 1}` : functionName;
  };
  const self = new Map<string, number>();
  const total = new Map<string, number>();
  const add = (times: Map<string, number>, name: string, ms: number) => times.set(name, (times.get(name) ?? 0) + ms);
  for (const [i, sample] of samples.entries()) {
    const ms = (timeDeltas[i] ?? 0) / 1000;
    add(self, nameOf(sample), ms);
    const stack = new Set<string>();
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.add(nameOf(id));
    for (const name of stack) add(total, name, ms);
  }
  return [...self]
    .filter(([what]) => !RESTING.has(what))
    .map(([what, selfMs]) => ({ isolate, what, selfMs, totalMs: total.get(what) ?? 0 }));
}
