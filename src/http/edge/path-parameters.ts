import {
  parseCredentialResetId,
  parsePolicyChangeId,
  parseTokenId,
  parseTransactionId,
  parseVaultIdText,
} from '#domain/id.ts';
import type { FieldFault } from '#domain/field-fault.ts';

/** A path parameter that has a form of its own. */
interface Parameter {
  /** Returns null for a malformed text. */
  readonly parse: (text: string) => unknown;
  readonly fault: Omit<FieldFault, 'pointer'>;
}

function idOf<T>(parse: (text: string) => T | null, what: string) {
  return { parse, fault: { code: 'invalid-id', detail: `Must be ${what}.` } } as const;
}

/** Returns the number of at most nine digits in a text, or null. */
function wholeNumber(text: string): number | null {
  return /^[1-9][0-9]{0,8}$/.test(text) ? Number.parseInt(text, 10) : null;
}

/** Returns the id of a report, which is a time in milliseconds; null for any other text. */
function reportIdOf(text: string): number | null {
  return /^[1-9][0-9]{12}$/.test(text) ? Number.parseInt(text, 10) : null;
}

/** The parameters by their name. Any other one is a text that its route looks up. */
const PARAMETERS = {
  vaultId: idOf(parseVaultIdText, 'a vault id'),
  txId: idOf(parseTransactionId, 'a transaction id'),
  changeId: idOf(parsePolicyChangeId, 'the id of a policy change'),
  resetId: idOf(parseCredentialResetId, 'the id of a credential reset'),
  reportId: idOf(reportIdOf, 'a report id'),
  id: idOf(parseTokenId, 'the id of a token'),
  version: { parse: wholeNumber, fault: { code: 'invalid', detail: 'Must be a policy version.' } },
} as const satisfies Readonly<Record<string, Parameter>>;

/** The names of the parameters in a path. */
export type ParameterOf<Path extends string> = Path extends `${infer Head}/${infer Rest}`
  ? ParameterOf<Head> | ParameterOf<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;

type ParameterValue<Name> = Name extends keyof typeof PARAMETERS
  ? NonNullable<ReturnType<(typeof PARAMETERS)[Name]['parse']>>
  : string;

/** The parsed parameters of a request of a user. */
export type Parameters<Names extends string> = { readonly [Name in Names]: ParameterValue<Name> };

/** The parsed parameters of a request of an operator. */
export type OperatorParameters<Names extends string> = {
  readonly [Name in Names]: ParameterValue<Name> | (Name extends keyof typeof PARAMETERS ? null : never);
};

/** Returns the names of the parameters in a path. */
export function parameterNames(path: string): readonly string[] {
  return path.split('/').flatMap((part) => (part.startsWith(':') ? part.slice(1) : []));
}

/** Returns the parsed parameters, each null when it is malformed, and their faults. */
export function readParameters(names: readonly string[], textOf: (name: string) => string) {
  const parameters: Record<string, unknown> = {};
  const faults: FieldFault[] = [];
  for (const name of names) {
    const text = textOf(name);
    const parameter: Parameter | undefined = Object.hasOwn(PARAMETERS, name)
      ? PARAMETERS[name as keyof typeof PARAMETERS]
      : undefined;
    const value = parameter === undefined ? text : parameter.parse(text);
    if (value === null && parameter !== undefined) faults.push({ pointer: name, ...parameter.fault });
    parameters[name] = value;
  }
  return { parameters, faults };
}
