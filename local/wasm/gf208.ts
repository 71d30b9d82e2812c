import { compiledCode } from './compiled-code.ts';

export default compiledCode('mpc/wasm/gf208');
