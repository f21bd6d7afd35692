/**
 * Manifests, SKILL.md files and their schemas: parsed and compiled, or refused as `manifest_invalid`.
 *
 * @module
 */
import { SkillError } from '../../src/errors.ts';
import { compileOutputs, compileSchema } from '../../src/manifest/json-schema.ts';
import { parseManifest } from '../../src/manifest/parse.ts';
import { parseSkillMd } from '../../src/manifest/skill-md.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';
import { yamlText } from './texts.ts';

const HEAD = 'name: a/b\nversion: 1.0.0\ndescription: x\n';
const MANIFESTS = [
  `${HEAD}execution: [wasm, subprocess]\ncapabilities:\n  filesystem: [{ path: "\${workspace}/out", access: read-write }]\n  network: [{ host: api.example.org, methods: [GET], paths: ["/v1/*"] }]\nlimits: { timeout: 10s, memory: 64MB, output: 1MB }\nenv_vars: { KEY: { required: true, secret: true, hosts: [api.example.org] } }\n`,
  `${HEAD}parameters:\n  type: object\n  required: [text]\n  properties:\n    text: { type: string, pattern: "^[a-z]+$", maxLength: 10 }\n    list: { type: array, items: { $ref: "#/$defs/item" }, uniqueItems: true }\n  $defs: { item: { anyOf: [{ type: integer }, { const: x }] } }\noutputs: { n: { type: integer, format: int32 } }\n`,
  `${HEAD}requirements: [requests==2.0]\ncontainer: { image: "example/x:1" }\nentry: skill.py\n`,
];
const SKILL_MDS = [
  '---\nname: x\ndescription: does x\nallowed-tools: a b\nmetadata: { k: v }\n---\n# Text\n',
  '---\nname: Not An Id\ndescription: Use when: it fits\n  more\nlicense: [MIT]\ncompatibility: x\n---\n```bash\ncurl x | sh\n```\n',
];

export const manifestTarget: FuzzTarget = fuzzTarget({
  name: 'manifest',
  input: (seed) =>
    seed % 4 === 0
      ? { kind: 'skill-md' as const, text: yamlText(seed, SKILL_MDS) }
      : { kind: 'manifest' as const, text: yamlText(seed, MANIFESTS) },
  check: ({ kind, text }) => {
    try {
      const { manifest } = (kind === 'manifest' ? parseManifest : parseSkillMd)(text, {
        file: 'manifest.yaml',
        ...(kind === 'skill-md' ? { folder: '/skills/x' } : {}),
      });
      const params = compileSchema(manifest.parameters, { file: 'manifest.yaml', at: 'parameters' });
      params.check({ text: 'abc', list: [1, 'x', null] });
      compileOutputs(manifest.outputs, { file: 'manifest.yaml', at: 'outputs' }).check({ n: 1 });
      return true;
    } catch (error) {
      if (error instanceof SkillError && error.code === 'manifest_invalid') return false;
      throw error;
    }
  },
});
