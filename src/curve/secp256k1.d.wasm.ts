/** The import of a `.wasm` file in the Workers runtime: compiled, and without an instance. */
declare const code: WebAssembly.Module;
export default code;
