/**
 * `skillcell/openai-agents` with the real runner and a fake model.
 */
import { Agent, Runner, type Model, type ModelRequest, type ModelResponse, Usage } from '@openai/agents';
import { openaiAgentsTools } from '../../src/api/openai-agents.ts';
import { describeAdapter, FINAL, type Turn } from './contract.ts';

class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #turn: Turn;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    const { tool, args } = this.#turn;
    const call = {
      type: 'function_call',
      callId: 'call-1',
      name: tool,
      arguments: JSON.stringify(args),
    } as const;
    const said = [{ type: 'output_text', text: FINAL } as const];
    const message = { type: 'message', role: 'assistant', status: 'completed', content: said } as const;
    return {
      usage: new Usage(),
      output: this.requests.length === 1 ? [call] : [{ ...message, content: [...said] }],
    };
  }

  getStreamedResponse(): AsyncIterable<never> {
    throw new Error('Nobody streams here');
  }
}

describeAdapter('skillcell/openai-agents', {
  // OpenAI's strict schemas list every property as required, and an optional one may be null.
  schema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'Any text.' } },
    required: ['text', 'times'],
    additionalProperties: false,
  },
  ask: async (runtime, options, turn) => {
    const tools = await openaiAgentsTools(runtime, options);
    const model = new ScriptedModel(turn);
    const agent = new Agent({ name: 'Agent', model, tools });
    // Traces would go to a server on the internet.
    const runner = new Runner({ tracingDisabled: true });
    const ended = await runner.run(agent, 'Go on.', { ...(turn.signal ? { signal: turn.signal } : {}) });
    const offered = (model.requests[0]?.tools ?? []).flatMap((one) => (one.type === 'function' ? [one] : []));
    const results = ended.newItems.flatMap((item) => (item.type === 'tool_call_output_item' ? [item] : []));
    return {
      tools: offered.map(({ name }) => name),
      schema: offered.find(({ name }) => name === turn.tool)?.parameters,
      read: String(results[0]?.output),
      isError: undefined,
      callId: (results[0] as { customData?: { call_id?: string } } | undefined)?.customData?.call_id,
      text: String(ended.finalOutput),
    };
  },
});
