/** The functions of a `.wasm` file, and its memory in words. */
export type Engine<Functions> = Functions & { readonly memory: Int32Array };

/**
 * Gives the one instance of this isolate. It is made when it is first asked for, because a Worker's start-up time is bounded. Memory does
 * not grow: the files say so, and a view of one that grew would be empty.
 *
 * @param code as its import gives it: compiled, and without an instance
 * @param constants words that stand at the beginning of the memory for good
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
