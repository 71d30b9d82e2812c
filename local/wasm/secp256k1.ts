import { compiledCode } from './compiled-code.ts';

export default compiledCode('curve/secp256k1');
