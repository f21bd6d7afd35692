/**
 * `skillcell/langchain` with LangChain's own fake model, in a real agent of LangGraph.
 */
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { langchainTools } from '../../src/api/langchain.ts';
import { describeAdapter, FINAL } from './contract.ts';

describeAdapter('skillcell/langchain', {
  ask: async (runtime, options, { tool, args, signal }) => {
    const tools = await langchainTools(runtime, options);
    const llm = fakeModel()
      .respondWithTools([{ name: tool, args, id: 'call-1' }])
      .respond(new AIMessage(FINAL));
    const agent = createReactAgent({ llm, tools });
    const { messages } = await agent.invoke(
      { messages: [{ role: 'user', content: 'Go on.' }] },
      { ...(signal ? { signal } : {}) },
    );
    const answer = messages.find((message) => ToolMessage.isInstance(message));
    const artifact = answer?.artifact as { call_id?: string } | undefined;
    const offered = tools.map((one) => convertToOpenAITool(one).function);
    return {
      tools: offered.map(({ name }) => name),
      schema: offered.find(({ name }) => name === tool)?.parameters,
      read: answer?.text ?? '',
      isError: answer?.status === 'error',
      callId: artifact?.call_id,
      text: messages.at(-1)?.text ?? '',
    };
  },
});
