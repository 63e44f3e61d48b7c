import { add } from './add.mjs';

if (add(1, 2) !== 3) throw new Error('1 + 2 is not 3');
