/**
 * The same number of calls in the code mode of another project, whose tools run in the host.
 *
 * @module
 */
import { experimental_runCodeMode } from '@ai-sdk/code-mode';
import { jsonSchema, tool } from 'ai';
import type { ProgramPeer } from './runner/programs/run-program-bench.ts';

export const PROGRAM_PEERS: readonly ProgramPeer[] = [
  { name: 'a tool in the host, AI SDK code mode', run: aiSdkRun },
];

/** Calls of a tool that does nothing, from a program in the QuickJS of the package. The tool runs in the host. */
function aiSdkRun(calls: number): Promise<unknown> {
  const echo = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => ({ words: 1 }) });
  const js = `let made = 0;
for (let at = 0; at < ${calls}; at++) made += Number((await tools.echo({})).words > 0);
return made;`;
  return experimental_runCodeMode({ js, tools: { echo } });
}
