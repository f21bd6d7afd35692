/**
 * The code that Ajv makes of the schema of draft 2020-12, as a module with the export of `src/manifest/draft-check.ts`.
 *
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';

const DRAFT_ADDRESS = 'https://json-schema.org/draft/2020-12/schema';

export function compiledDraftCheck(): string {
  // The options of `draft-check.ts`; `source` keeps the code.
  const ajv = formats.default(
    new Ajv2020({ strict: false, logger: false, code: { source: true, esm: true } }),
  );
  const code = standalone.default(ajv, { check: DRAFT_ADDRESS });
  return `${code}\nexport function draftCheck() { return check; }\n`;
}
