/**
 * A host that keeps a container ready until it is killed. A test starts it with a backend, a home and a skill.
 *
 * @module
 */
import type { BackendName } from '../../../../src/cell/walls/container/contract.ts';
import { createRuntime } from '../../../../src/index.ts';

const [backend, home, skill] = process.argv.slice(2) as [BackendName, string, string];
const runtime = createRuntime({ home, pool: { size: 1 }, container: { makes: [backend] } });
await runtime.warm(await runtime.load(skill));
// Busy, because an idle container would exit by itself when its channel closes.
void runtime.execute(skill, {}, { reject: false });
setTimeout(() => console.log('ready'), 300);
setTimeout(() => undefined, 600_000);
