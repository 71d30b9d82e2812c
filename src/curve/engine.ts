/** The functions of a `.wasm` file, and its memory in words. */
export type Engine<Functions> = Functions & { readonly memory: Int32Array };

/**
 * Returns a function that returns the one instance of this isolate. The instance is made on the
 * first call, because the start-up time of a Worker is bounded. The memory does not grow: the files
 * define it so, and a view of memory that grew would be empty.
 *
 * @param code as its import provides it: compiled, and without an instance
 * @param constants words that stay at the beginning of the memory
 */
export function engineOf<Functions extends object>(
  code: WebAssembly.Module,
  constants: Int32Array = new Int32Array(),
): () => Engine<Functions> {
  let engine: Engine<Functions> | null = null;
  return () => {
    if (engine !== null) return engine;
    const { exports } = new WebAssembly.Instance(code, {});
    const functions = exports as unknown as Functions & { readonly memory: WebAssembly.Memory };
    const memory = new Int32Array(functions.memory.buffer);
    memory.set(constants);
    engine = { ...functions, memory };
    return engine;
  };
}
