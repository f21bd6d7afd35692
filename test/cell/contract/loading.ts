/**
 * The forms in which a skill may be written, and the surroundings its code relies on.
 *
 * @module
 */
import { expect, test } from 'vitest';
import type { Bench } from './bench.ts';

const SKILLWARE = `
  from skillware.core.base_skill import BaseSkill

  class Greeter(BaseSkill):
      def __init__(self, config=None):
          super().__init__(config)
          self.greeting = self.config.get("greeting", "Hello")
          self.prepared = [n * n for n in range(4)]

      def execute(self, params):
          self.validate_params(params)
          return {
              "text": "%s %s" % (self.greeting, params["who"]),
              "prepared": self.prepared,
              "manifest": {key: self.manifest[key] for key in ("name", "version", "issuer")},
              "key": self.credential("TEST_GREETER_KEY"),
              "missing": self.credential("TEST_GREETER_OTHER"),
          }
`;

export function loadingContract(bench: Bench): void {
  test('a plain function', async () => {
    const skill = bench.skill('def execute(params):\n    return params["a"] + 1\n');
    expect((await bench.succeed(skill, { a: 1 })).result).toBe(2);
  });

  test('a script of the bundle runs by runpy, and a folder of it too', async () => {
    const skill = bench.skill({
      source: `
        import runpy
        def execute(params):
            script = runpy.run_path("/skill/tools/report.py", run_name="report")
            return [script["ANSWER"], script["__name__"], runpy.run_path("/skill/tools")["ANSWER"], runpy.run_module("tools.report")["ANSWER"]]
      `,
      files: { 'tools/report.py': 'ANSWER = 42\n', 'tools/__main__.py': 'ANSWER = 43\n' },
    });
    expect((await bench.succeed(skill)).result).toEqual([42, 'report', 43, 42]);
  });

  test('an async function', async () => {
    const skill = bench.skill(`
      import asyncio
      async def execute(params):
          await asyncio.sleep(0)
          return await asyncio.gather(*(double(n) for n in params["numbers"]))
      async def double(n):
          await asyncio.sleep(0.001)
          return n * 2
    `);
    expect((await bench.succeed(skill, { numbers: [1, 2, 3] })).result).toEqual([2, 4, 6]);
  });

  test('a BaseSkill class with config, manifest, parameter check and credentials', async () => {
    const skill = bench.skill({
      manifest: {
        issuer: { name: 'A test' },
        parameters: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
        env_vars: { TEST_GREETER_KEY: { required: false }, TEST_GREETER_OTHER: {} },
      },
      source: SKILLWARE,
    });
    const { result, skill: identity } = await bench.succeed(skill, { who: 'you' });
    expect(result).toEqual({
      text: 'Hello you',
      prepared: [0, 1, 4, 9],
      manifest: { name: identity.name, version: '1.0.0', issuer: { name: 'A test' } },
      key: 'key-of-the-test',
      missing: null,
    });
  });

  test('a BaseSkill class that only has aexecute', async () => {
    const skill = bench.skill(`
      from skillware.core.base_skill import BaseSkill
      class Async(BaseSkill):
          async def aexecute(self, params):
              return "awaited"
    `);
    expect((await bench.succeed(skill)).result).toBe('awaited');
  });

  test('validate_params of the class raises what Skillware raises', async () => {
    const skill = bench.skill({
      manifest: { parameters: { type: 'object', properties: { n: { type: 'integer' } } } },
      source: `
        from skillware.core.base_skill import BaseSkill, SkillwareParamValidationError
        class Checks(BaseSkill):
            def execute(self, params):
                try:
                    self.validate_params({"n": "text"})
                except SkillwareParamValidationError as error:
                    return str(error)
      `,
    });
    expect((await bench.succeed(skill)).result).toContain("'text' is not of type 'integer'");
  });

  test('sibling modules, packages and data files beside __file__', async () => {
    const skill = bench.skill({
      source: `
        import json, os
        from helper import twice
        from tools.words import count
        HERE = os.path.dirname(os.path.abspath(__file__))
        def execute(params):
            with open(os.path.join(HERE, "data", "words.json"), encoding="utf-8") as file:
                words = json.load(file)
            return {"twice": twice(21), "count": count(" ".join(words)), "words": words, "here": HERE}
      `,
      files: {
        'helper.py': 'def twice(n):\n    return n * 2\n',
        'tools/__init__.py': '',
        'tools/words.py': 'def count(text):\n    return len(text.split())\n',
        'data/words.json': '["grün", "blau"]',
      },
    });
    expect((await bench.succeed(skill)).result).toEqual({
      twice: 42,
      count: 2,
      words: ['grün', 'blau'],
      here: '/skill',
    });
  });

  test('an entry in a folder finds its neighbours', async () => {
    const skill = bench.skill({
      manifest: { entry: 'src/main.py' },
      source: '',
      files: {
        'src/main.py': 'from beside import VALUE\ndef execute(params):\n    return VALUE\n',
        'src/beside.py': 'VALUE = "beside"\n',
      },
    });
    expect((await bench.succeed(skill)).result).toBe('beside');
  });

  test('a bundle file with the name of a library module is the one that is imported', async () => {
    const skill = bench.skill({
      source: 'import textwrap\ndef execute(params):\n    return textwrap.OWN\n',
      files: { 'textwrap.py': 'OWN = "mine"\n' },
    });
    expect((await bench.succeed(skill)).result).toBe('mine');
  });

  test.each([
    ['nothing to call', 'VALUE = 1\n', /neither a BaseSkill class nor a function/],
    [
      'two classes',
      'from skillware.core.base_skill import BaseSkill\nclass A(BaseSkill): pass\nclass B(BaseSkill): pass\n',
      /more than one skill class: A, B/,
    ],
    ['a module that does not exist', 'import no_such_module_here\n', /No module named 'no_such_module_here'/],
    ['an error in the module body', 'raise ValueError("at import")\n', /ValueError: at import/],
  ])('%s is an error of the skill', async (_, source, message) => {
    const outcome = await bench.run(bench.skill(source));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok || outcome.error.message).toMatch(message);
  });
}
