/**
 * `skillcell:skill/host`, as defined in guest/wasm/wit/skill.wit.
 *
 * @module
 */
import { list, result, type Interface } from './types.ts';

const HEADERS = list({ tuple: ['string', 'string'] });

export const HOST: Interface = {
  id: 'skillcell:skill/host@0.1.0',
  uses: {},
  types: {
    level: { enum: ['trace', 'debug', 'info', 'warn', 'error'] },
    response: { record: { status: 'u16', headers: HEADERS, body: list('u8') } },
  },
  functions: {
    log: { params: { level: 'level', message: 'string' } },
    fetch: {
      params: { method: 'string', url: 'string', headers: HEADERS, body: list('u8') },
      result: result('response', 'string'),
    },
  },
};
