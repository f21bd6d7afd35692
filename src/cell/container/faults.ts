/**
 * What it means when a container did not come up, told from the words of the runtime: each cause with a fix of its own.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { LaunchFault } from '../contract.ts';

interface Cause {
  said: RegExp;
  fault: LaunchFault;
}

/** In this order: the more telling words come first. */
const CAUSES: readonly Cause[] = [
  {
    said: /exec format error/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The image is for another processor than this machine has',
      fix: 'Build or fetch the image for this architecture (`skillcell doctor` names it).',
    },
  },
  {
    said: /no space left on device|disk quota exceeded/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The disk is full: the container could not be set up',
      fix: "Free space where Skillcell's folder and the container engine keep their files.",
    },
  },
  {
    said: /executable file .*not found|no such file or directory.*(?:exec|executable)|exec[^\n]*(?:no such file or directory|not found|permission denied)|open executable: no such file/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The image does not have the program that is to be run, or it may not be executed',
      fix: 'Check the entry point of the image and the permissions of the program; a skill in Python needs /usr/bin/python3 or /usr/local/bin/python3.',
    },
  },
  {
    said: /(?:cannot|can't|unable to) connect to the docker daemon|ECONNREFUSED|connection refused|EOF from the engine|socket hang up|ECONNRESET/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The container engine does not answer any more',
      fix: 'Start it again and see `skillcell doctor`; the call may be repeated.',
    },
  },
  {
    said: /no such image|image not known|manifest unknown/i,
    fault: {
      code: 'skill_unavailable',
      message: 'The container engine does not have the image',
      fix: 'Build it with `skillcell build`, or import it.',
    },
  },
];

const MOST_TOLD = 300;

/** The engine went away in the middle of a call. */
export function lostEngine(what: string): LaunchFault {
  return {
    code: 'skill_unavailable',
    message: `The container engine went away during the call: ${what}`,
    fix: 'See why it ended, start it again if it is a service, and repeat the call.',
  };
}

/** Undefined when nothing was said that we know. */
export function launchFault(logs: string): LaunchFault | undefined {
  const cause = CAUSES.find(({ said }) => said.test(logs));
  if (!cause) return undefined;
  const line = logs.split('\n').find((one) => cause.said.test(one)) ?? logs;
  return { ...cause.fault, message: `${cause.fault.message}: ${line.trim().slice(0, MOST_TOLD)}` };
}

/** What an image holds is its author's, so a program in it that does not come up is no fault of ours. */
export function neverReady(logs: string): LaunchFault {
  const told = logs.trim().split('\n').at(-1)?.slice(0, MOST_TOLD) ?? '';
  return {
    code: 'skill_unavailable',
    message: `The container ended before the skill could be called${told === '' ? '' : `: ${told}`}`,
    fix: 'Look at what the image starts: its Python or its entry point has to work as the user of the cell, with a read-only root.',
  };
}

/** Has a full disk told as such; every other failure to write our own files is what it is. Neither leaves anything. */
export function settingUp<T>(work: () => T, undo: () => void = () => undefined): T {
  try {
    return work();
  } catch (error) {
    undo();
    const fault = isFull(error) ? launchFault(error.message) : undefined;
    throw fault ? new SkillError(fault.code, fault.message, { fix: fault.fix, cause: error }) : error;
  }
}

function isFull(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
