/** Requests files endlessly. */
import { stat } from 'skillcell:fs';

export async function execute(params) {
  for (;;) await stat('/skill/skill.js');
}
