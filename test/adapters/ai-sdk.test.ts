/**
 * `skillcell/ai-sdk` with the real AI SDK.
 */
import { generateText, isStepCount } from 'ai';
import { aiSdkTools, type SkillToolOutput } from '../../src/api/ai-sdk.ts';
import { describeAdapter } from './contract.ts';
import { scriptedModel, seenBy } from './language-model.ts';

describeAdapter('skillcell/ai-sdk', {
  ask: async (runtime, options, turn) => {
    const tools = await aiSdkTools(runtime, options);
    const model = scriptedModel(turn);
    const { text, steps } = await generateText({
      model,
      tools,
      prompt: 'Go on.',
      stopWhen: isStepCount(3),
      ...(turn.signal ? { abortSignal: turn.signal } : {}),
    });
    const [result] = steps.flatMap(({ toolResults }) =>
      toolResults.map(({ output }) => output as SkillToolOutput),
    );
    return { ...seenBy(model.doGenerateCalls, turn), callId: result?.call_id, text };
  },
});
