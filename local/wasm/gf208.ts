import { compiledCode } from './compiled-code.ts';

export default compiledCode('gf208');
