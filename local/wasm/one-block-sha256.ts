import { compiledCode } from './compiled-code.ts';

export default compiledCode('one-block-sha256');
