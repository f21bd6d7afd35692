/**
 * A host that keeps a container ready and then is killed. Started by a test with a make, a home and a skill.
 *
 * @module
 */
import type { MakeName } from '../../../src/cell/container/contract.ts';
import { createRuntime } from '../../../src/index.ts';

const [make, home, skill] = process.argv.slice(2) as [MakeName, string, string];
const runtime = createRuntime({ home, pool: { size: 1 }, container: { makes: [make] } });
await runtime.warm(await runtime.load(skill));
// Busy: a container that only waited would end by itself when its channel closes.
void runtime.execute(skill, {}, { reject: false });
setTimeout(() => console.log('ready'), 300);
setTimeout(() => undefined, 600_000);
