/**
 * The check whether a value is a JSON Schema of draft 2020-12. Ajv takes longer to compile it than to compile most schemas
 * of skills, so the bundle of the package has the compiled code in place of this module (`scripts/compiled-draft.ts`).
 *
 * @module
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const DRAFT_ADDRESS = 'https://json-schema.org/draft/2020-12/schema';
/** Validates schemas and keeps none. Shared, because compiling the meta-schema takes longer than most schemas. */
const DRAFT = formats.default(new Ajv2020({ strict: false, logger: false }));

/** Compiled on first use. */
export function draftCheck(): ValidateFunction {
  const check = DRAFT.getSchema(DRAFT_ADDRESS);
  if (!check) throw new Error('Ajv has no schema of draft 2020-12');
  return check;
}
