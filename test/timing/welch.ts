/**
 * The number of standard errors between the means of two samples (Welch's t). Both are cropped at
 * the same time first, because an interruption by the machine lasts longer than what is measured.
 */
export function welchT(one: readonly number[], other: readonly number[], kept = 0.9): number {
  const limit = [...one, ...other].toSorted((a, b) => a - b)[Math.floor((one.length + other.length) * kept)] ?? 0;
  const [first, second] = [one, other].map((sample) => momentsOf(sample.filter((time) => time <= limit)));
  if (first === undefined || second === undefined) return 0;
  const error = Math.sqrt(first.variance / first.count + second.variance / second.count);
  return error === 0 ? 0 : (first.mean - second.mean) / error;
}

function momentsOf(sample: readonly number[]) {
  const mean = sample.reduce((sum, time) => sum + time, 0) / sample.length;
  const variance = sample.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (sample.length - 1);
  return { count: sample.length, mean, variance };
}
