import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime, type Outcome } from '../../../../src/index.ts';
import { tempDir, writeTree } from '../../../load/helpers.ts';

/** Runs one call of a bundle in the layout of Skillware; `manifest` is added to a manifest without capabilities. */
async function run(
  files: Record<string, string>,
  params: unknown = {},
  manifest: string = '',
): Promise<Outcome> {
  const folder = tempDir();
  // With a root host, cells run as another user, who has to enter the folder.
  chmodSync(folder, 0o711);
  const bundle = join(folder, 'skills', 'test', 'sample');
  writeTree(bundle, { 'manifest.yaml': `name: sample\nversion: 0.1.0\n${manifest}`, ...files });
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    pool: { size: 0 },
    audit: false,
    env: {},
  });
  return await runtime.execute(bundle, params, { execution: 'subprocess', reject: false });
}

function skill(body: string, head = ''): Record<string, string> {
  const lines = body.split('\n').map((line) => `        ${line}`);
  const text = `${head}
from skillware.core.base_skill import BaseSkill

class Sample(BaseSkill):
    def execute(self, params):
${lines.join('\n')}
`;
  return { 'skill.py': text };
}

const resultOf = (outcome: Outcome): unknown => (outcome.ok ? outcome.result : outcome.error);

describe('a bundle without capabilities', () => {
  it('loads with warnings and is denied at the boundary', async () => {
    const outcome = await run(
      skill('return socket.create_connection(("127.0.0.1", 9), 1).fileno()', 'import socket'),
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(outcome.capabilities.denied).toMatchObject([{ capability: 'network' }]);
    expect(outcome.warnings).toContain(
      'The code imports "socket" (skill.py:1), but the manifest declares no network.',
    );
  });

  it('does not get undeclared variables, and continues without them', async () => {
    const outcome = await run(skill('return os.environ.get("GOOGLE_API_KEY", "none")', 'import os'));
    expect(resultOf(outcome)).toBe('none');
    expect(outcome.capabilities.denied).toMatchObject([{ capability: 'env', asked: 'read GOOGLE_API_KEY' }]);
  });

  const outputs = 'outputs: { threat: { type: string } }\n';

  it('gets only a warning if its result does not match its outputs, because Skillware never checks them', async () => {
    const outcome = await run(skill('return {"threat": None}'), {}, outputs);
    expect(resultOf(outcome)).toEqual({ threat: null });
    expect(outcome.warnings).toContain(
      'The result does not match "outputs" in the manifest: /threat: must be string',
    );
  });

  it('is held to its outputs once it declares capabilities', async () => {
    const outcome = await run(skill('return {"threat": None}'), {}, `${outputs}capabilities: {}\n`);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
  });
});

describe('BaseSkill', () => {
  it('provides an empty config, the manifest of the bundle, and credentials from the config first', async () => {
    const body = `self.config["KEY"] = "own"
return [self.manifest["name"], self.credential("KEY"), self.credential("OTHER"), Sample(None).config]`;
    expect(resultOf(await run(skill(body)))).toEqual(['test/sample', 'own', null, {}]);
  });

  const parameters = `
parameters:
  type: object
  properties:
    word: { type: string, enum: [a, b] }
    list: { type: array, items: { type: [integer, "null"] } }
  required: [word]
`;
  const validate = `
problems = []
for one in ({"word": "a", "list": [1, None]}, {}, {"word": "c"}, {"word": "a", "list": [1, True]}, []):
    try:
        problems.append(self.validate_params(one))
    except SkillwareParamValidationError as error:
        problems.append(str(error))
return problems`;

  it('validates parameters with the messages of Skillware', async () => {
    const head = 'from skillware.core.base_skill import SkillwareParamValidationError';
    const failed = "Skill 'test/sample' parameter validation failed at";
    expect(resultOf(await run(skill(validate, head), { word: 'a' }, parameters))).toEqual([
      true,
      `${failed} '(root)': 'word' is a required property`,
      `${failed} 'word': 'c' is not one of ['a', 'b']`,
      `${failed} 'list.1': True is not of type 'integer', 'null'`,
      "Skill 'test/sample' expects parameter arguments as a JSON object (dict), got list.",
    ]);
  });

  it('does not import asyncio, typing or inspect', async () => {
    const body =
      'return [name for name in ("asyncio", "typing", "inspect", "dataclasses") if name in sys.modules]';
    expect(resultOf(await run(skill(body, 'import sys')))).toEqual([]);
  });

  it('runs a skill that has only aexecute', async () => {
    const text = `
from skillware.core.base_skill import BaseSkill

class Sample(BaseSkill):
    async def aexecute(self, params):
        return params["word"] * 2
`;
    expect(resultOf(await run({ 'skill.py': text }, { word: 'ab' }))).toBe('abab');
  });
});

describe('other files of the bundle', () => {
  const sibling = { 'helper.py': 'WORD = "found"\n', 'data/words.txt': 'from a file\n' };

  it.each([
    [
      'by name, after a relative import failed',
      'try:\n    from . import helper\nexcept ImportError:\n    import helper',
    ],
    [
      'by path',
      `import importlib.util, os
spec = importlib.util.spec_from_file_location("x", os.path.join(os.path.dirname(__file__), "helper.py"))
helper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(helper)`,
    ],
  ])('can be imported %s', async (_how, head) => {
    expect(resultOf(await run({ ...skill('return helper.WORD', head), ...sibling }))).toBe('found');
  });

  it('can be read relative to __file__', async () => {
    const body = 'return open(os.path.join(os.path.dirname(__file__), "data", "words.txt")).read()';
    expect(resultOf(await run({ ...skill(body, 'import os'), ...sibling }))).toBe('from a file\n');
  });
});
