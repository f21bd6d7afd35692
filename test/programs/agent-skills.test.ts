/**
 * Programs call Agent Skills folders: a command of their scripts, under the id or the bare name.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { dedent } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime();
beforeAll(() => {
  const write = (name: string, files: Record<string, string>): void => {
    const head = `---\nname: ${name}\ndescription: A skill of a test.\n---\n\nFollow this.\n`;
    for (const [path, text] of Object.entries({ 'SKILL.md': head, ...files })) {
      const file = join(folder, '.agents', 'skills', name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  };
  write('count-words', {
    'scripts/count.py': 'import sys\nprint(len(sys.stdin.read().split()))\n',
  });
  write('style-guide', {});
});
afterAll(close);

const sources = {
  typescript: `
    const params = { command: ['python', 'scripts/count.py'], stdin: 'one two three' };
    const byName = await skills['count-words'](params);
    const byId = await skills['skills/count-words'](params);
    const texts = await skills['style-guide']({ command: ['ls'] }).catch((error) => [error.name, error.code, error.message]);
    const none = await skills.nothing({}).catch((error) => error.code);
    return { outputs: [byName.stdout, byId.stdout], texts, none };`,
  python: `
    params = {"command": ["python", "scripts/count.py"], "stdin": "one two three"}
    outputs = [skills["count-words"](params)["stdout"], skills["skills/count-words"](**params)["stdout"]]
    def refused(call):
        try:
            call()
        except SkillCallError as error:
            return [type(error).__name__, error.code, error.message]
    texts = refused(lambda: skills["style-guide"](command=["ls"]))
    return {"outputs": outputs, "texts": texts, "none": refused(lambda: skills.nothing())[1]}
  `,
};

describe.each(['typescript', 'python'] as const)('a program in %s', (language) => {
  test('runs a command of an Agent Skills folder, and is told why it cannot', async () => {
    const program = { language, source: dedent(sources[language]), skills: ['skills/*'] };
    const outcome: Outcome = await runtime.program(program, {}, { reject: false });
    expect(outcome).toMatchObject({
      ok: true,
      result: {
        outputs: ['3\n', '3\n'],
        texts: ['SkillCallError', 'usage', expect.stringContaining('has instructions only')],
        none: 'capability_denied',
      },
    });
    expect(outcome.children?.map(({ skill, code }) => [skill, code])).toEqual([
      ['skills/count-words', 'ok'],
      ['skills/count-words', 'ok'],
      ['skills/style-guide', 'usage'],
    ]);
  });
});
