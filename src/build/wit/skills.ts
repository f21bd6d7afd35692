/**
 * `skillcell:skill/skills`, as defined in guest/wasm/wit/skill.wit.
 *
 * @module
 */
import { list, result, type Interface } from './types.ts';

const OUTCOME = result('string', 'failure');

export const SKILLS: Interface = {
  id: 'skillcell:skill/skills@0.1.0',
  uses: {},
  types: {
    failure: { record: { code: 'string', message: 'string', fix: 'string' } },
    ended: { record: { call: 'u32', outcome: OUTCOME } },
  },
  functions: {
    call: { params: { name: 'string', params: 'string' }, result: OUTCOME },
    start: { params: { name: 'string', params: 'string' }, result: result('u32', 'failure') },
    wait: { params: { calls: list('u32') }, result: result('ended', 'failure') },
    cancel: { params: { call: 'u32' } },
  },
};
