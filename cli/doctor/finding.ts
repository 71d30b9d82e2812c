/** What `doctor` has found at one part of a deployment. */
export interface Finding {
  /**
   * - `fault`: payments fail or money is at risk.
   * - `warning`: it works, and an operator should know.
   */
  readonly level: 'fault' | 'warning';
  /** The part at fault: a Worker, a chain, a queue. */
  readonly part: string;
  /** The setting, or the code of the alert. */
  readonly name: string;
  /** Without a part of the value of a setting. */
  readonly detail: string;
}
