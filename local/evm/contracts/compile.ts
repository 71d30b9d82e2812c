import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import solc from 'solc';

export interface CompiledContract {
  readonly abi: readonly unknown[];
  /** The creation bytecode, hex with 0x. */
  readonly bytecode: `0x${string}`;
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Record<
    string,
    Record<
      string,
      { readonly abi: readonly unknown[]; readonly evm: { readonly bytecode: { readonly object: string } } }
    >
  >;
}

export type ContractFile = 'DemoDollar.sol' | 'OddTokens.sol' | 'Movers.sol';

/** The contracts that this process has compiled. */
const compiled = new Map<ContractFile, ReadonlyMap<string, CompiledContract>>();

/**
 * Returns every contract of a file beside this one, by name. The first call for a file compiles it.
 * Throws the errors of the compiler.
 */
export function compile(file: ContractFile): ReadonlyMap<string, CompiledContract> {
  const contracts = compiled.get(file) ?? compileAnew(file);
  compiled.set(file, contracts);
  return contracts;
}

function compileAnew(file: ContractFile): ReadonlyMap<string, CompiledContract> {
  const content = readFileSync(join(import.meta.dirname, file), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input)));
  const errors = (output.errors ?? []).filter((error) => error.severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));
  const contracts = Object.entries(output.contracts?.[file] ?? {});
  return new Map(
    contracts.map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }] as const),
  );
}

/** The ordinary ERC-20 of the demo: Demo Dollar, DUSD, 6 decimals. */
export function compileDemoDollar(): CompiledContract {
  const contract = compile('DemoDollar.sol').get('DemoDollar');
  if (contract === undefined) throw new Error('DemoDollar.sol has no contract DemoDollar');
  return contract;
}
