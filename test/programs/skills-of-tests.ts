/**
 * Skills for tests of calls that make calls: small TypeScript modules that run in Wasm.
 *
 * @module
 */
import { writeSkill } from '../write-skill.ts';

const DUMMY_PARAMS = { type: 'object' };

/** Writes a skill below the project of a test: its source, or its source and keys of its manifest. */
export function writeScriptSkill(
  folder: string,
  id: string,
  text: string | ({ source: string } & Record<string, unknown>),
): string {
  const { source, ...manifest } = typeof text === 'string' ? { source: text } : text;
  return writeSkill(folder, {
    id,
    manifest: { execution: ['wasm'], parameters: DUMMY_PARAMS, ...manifest },
    files: { 'skill.ts': source },
  });
}

/** Skills that the tests share: arithmetic, failures, and one that never ends. */
export function writeCommonSkills(folder: string): void {
  writeScriptSkill(folder, 'math/double', {
    source: 'export const execute = ({ n }: { n: number }) => ({ n: n * 2 });',
    ...{
      parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    },
  });
  writeScriptSkill(folder, 'math/fail', 'export function execute() { throw new Error("it broke"); }');
  writeScriptSkill(
    folder,
    'slow/forever',
    'export const execute = () => new Promise((r) => setTimeout(r, 1e6));',
  );
  writeScriptSkill(folder, 'text/echo', 'export const execute = (params: unknown) => params;');
}
