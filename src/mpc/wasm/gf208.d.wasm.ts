/** As the runtime of Workers gives what a `.wasm` file is imported for: compiled, and without an instance. */
declare const code: WebAssembly.Module;
export default code;
