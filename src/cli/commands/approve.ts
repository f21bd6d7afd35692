/**
 * `skillcell approve`: shows what a skill asks for, and remembers that a person agreed.
 *
 * @module
 */
import { userInfo } from 'node:os';
import { printableLine, questionFor, SkillError, type Runtime } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote } from '../output.ts';
import { describeQuestion, personAtTerminal } from '../person.ts';

export interface ApproveFlags {
  yes?: boolean;
  revoke?: boolean;
}

export async function approve(ref: string, flags: ApproveFlags): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  if (flags.revoke) return revoke(ref, runtime);
  const { bundle } = await runtime.load(ref);
  const { name } = bundle.manifest;
  const state = runtime.approvals.stateOf(bundle);
  const question = questionFor(bundle, state);
  if (state.kind === 'approved') {
    printLine(`${name} is approved already, since ${state.approval.at} by ${state.approval.by}.`);
    return 0;
  }
  if (flags.yes) printNote(describeQuestion(question));
  else if (!(await confirmed(question))) {
    printNote('Not approved.');
    return 5;
  }
  runtime.approvals.add(bundle, ownName());
  printLine(`Approved ${name} ${bundle.digest}. Any change of it asks again.`);
  return 0;
}

/** What is gone, or no longer loads, is named by the name that was approved. */
async function revoke(ref: string, runtime: Runtime): Promise<number> {
  const { name, digest } = await loaded(ref, runtime).catch((error: unknown) => {
    if (runtime.approvals.ofSkill(ref).length === 0) throw error;
    return { name: ref, digest: undefined };
  });
  printLine(`Took back ${runtime.approvals.remove(name, digest)} approval(s) of ${printableLine(name)}.`);
  return 0;
}

async function loaded(ref: string, runtime: Runtime): Promise<{ name: string; digest: string }> {
  const { bundle } = await runtime.load(ref);
  return { name: bundle.manifest.name, digest: bundle.digest };
}

function confirmed(question: ReturnType<typeof questionFor>): Promise<boolean> {
  const { askPerson } = personAtTerminal();
  if (askPerson) return askPerson(question);
  printNote(describeQuestion(question));
  throw new SkillError('usage', 'There is no terminal to ask on', {
    fix: 'Run it in a terminal, or read the lines above and add --yes.',
  });
}

/** Who approves. In a container the user often has a number and no name. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
