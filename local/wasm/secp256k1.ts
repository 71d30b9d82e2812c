import { compiledCode } from './compiled-code.ts';

export default compiledCode('secp256k1');
