/**
 * `skillcell approve`: shows what a skill asks for, and remembers that a person agreed.
 *
 * @module
 */
import { userInfo } from 'node:os';
import { questionFor, SkillError } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote } from '../output.ts';
import { describeQuestion, personAtTerminal } from '../person.ts';

export interface ApproveFlags {
  yes?: boolean;
  revoke?: boolean;
}

export async function approve(ref: string, flags: ApproveFlags): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const { bundle } = await runtime.load(ref);
  const { name } = bundle.manifest;
  if (flags.revoke) {
    printLine(`Took back ${runtime.approvals.remove(name)} approval(s) of ${name}.`);
    return 0;
  }
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
