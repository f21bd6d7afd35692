/**
 * A loaded skill: its verified bundle and its compiled schemas.
 *
 * @module
 */
import type { Bundle } from './bundle.ts';
import { compileOutputs, compileSchema, type SchemaCheck } from '../manifest/json-schema.ts';

export interface Skill {
  readonly bundle: Bundle;
  readonly params: SchemaCheck;
  readonly outputs: SchemaCheck;
}

export function compileSkill(bundle: Bundle): Skill {
  const { manifest } = bundle;
  return {
    bundle,
    params: compileSchema(manifest.parameters, { file: 'manifest.yaml', at: 'parameters' }),
    outputs: compileOutputs(manifest.outputs, { file: 'manifest.yaml', at: 'outputs' }),
  };
}
