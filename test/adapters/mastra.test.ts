/**
 * `skillcell/mastra` with a real agent of Mastra.
 */
import { Agent, type AgentConfig } from '@mastra/core/agent';
import { mastraTools } from '../../src/api/mastra.ts';
import { describeAdapter } from './contract.ts';
import { scriptedModel, seenBy } from './language-model.ts';

// Mastra reports its use to a server on the internet otherwise.
process.env['MASTRA_TELEMETRY_DISABLED'] = '1';

/** Mastra takes models of the AI SDK; the types of its own copy of them differ. */
const asMastra = (model: unknown): AgentConfig['model'] => model as AgentConfig['model'];

interface ToolResultChunk {
  payload: { result?: { call_id?: string } };
}

describeAdapter('skillcell/mastra', {
  ask: async (runtime, options, turn) => {
    const tools = await mastraTools(runtime, options);
    const model = scriptedModel(turn);
    const agent = new Agent({
      id: 'agent',
      name: 'Agent',
      instructions: 'Use the tools.',
      model: asMastra(model),
      tools,
    });
    const ended = await agent.generate('Go on.', {
      maxSteps: 3,
      ...(turn.signal ? { abortSignal: turn.signal } : {}),
    });
    const calls = [...model.doGenerateCalls, ...model.doStreamCalls];
    const [result] = ended.steps.flatMap(({ toolResults }) => toolResults as unknown as ToolResultChunk[]);
    return { ...seenBy(calls, turn), callId: result?.payload.result?.call_id, text: ended.text };
  },
});
