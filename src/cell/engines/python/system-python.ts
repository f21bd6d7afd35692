/**
 * What engines have in common that run the Python of this machine.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { Interpreter } from './interpreter.ts';

const NO_PYTHON = {
  reason: 'no system Python was found in /usr/bin or /usr/local/bin',
  fix: 'Install it: apt-get install python3',
};

export interface SystemPythonOptions {
  home: string;
  interpreter: Interpreter | undefined;
}

export abstract class SystemPythonEngine<Options extends SystemPythonOptions> {
  readonly reusable = false;
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  missing(): { reason: string; fix: string } | undefined {
    return this.options.interpreter ? undefined : { ...NO_PYTHON };
  }

  protected describePython(): string {
    const { interpreter } = this.options;
    return interpreter ? `Python ${interpreter.version} (${interpreter.path})` : 'no system Python';
  }

  protected interpreter(): Interpreter {
    const { interpreter } = this.options;
    if (interpreter) return interpreter;
    throw new SkillError('skill_unavailable', NO_PYTHON.reason, { fix: NO_PYTHON.fix });
  }
}
