import { compiledCode } from './compiled-code.ts';

export default compiledCode('mpc/wasm/one-block-sha256');
