/**
 * A skill that says when it begins, and then waits as long as its parameters say.
 *
 * @module
 */
import { writeSkill } from '../write-skill.ts';

interface Waiting {
  /** How long it waits if the parameters do not say. */
  seconds?: number;
  /** What it prints when it begins. */
  says?: string;
  /** Its result, in Python. */
  result?: string;
  manifest?: Record<string, unknown>;
}

export function writeWaitingSkill(
  folder: string,
  id: string,
  { seconds = 0, says = 'begun', result = '{"waited": True}', manifest = {} }: Waiting = {},
): void {
  writeSkill(folder, {
    id,
    manifest: { limits: { timeout: '60s' }, ...manifest },
    source: `import time
def execute(params):
    print("${says}", flush=True)
    time.sleep(params.get("seconds", ${seconds}))
    return ${result}`,
  });
}
