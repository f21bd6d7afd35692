/**
 * Who decides on the container runtime: the operator does, and a manifest can only demand more.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { candidates, makesOfOperator, unmetDemand } from '../../../src/cell/container/choice.ts';
import { MAKES } from '../../../src/cell/container/contract.ts';
import { ContainerWall } from '../../../src/cell/container/wall.ts';
import { SkillError } from '../../../src/errors.ts';

describe('the choice of a container runtime', () => {
  const USUAL = ['crun', 'runc', 'podman', 'docker'];

  it('is the usual order where nobody says anything, without gVisor', () => {
    expect(candidates({ listed: undefined, wished: undefined })).toEqual(USUAL);
  });

  it('follows the wish of a manifest among runtimes that are equally strong', () => {
    expect(candidates({ listed: undefined, wished: 'podman' })).toEqual(['podman', 'crun', 'runc', 'docker']);
    expect(candidates({ listed: ['crun', 'podman'], wished: 'podman' })).toEqual(['podman', 'crun']);
  });

  it('ignores a wish for a runtime that the operator does not allow', () => {
    expect(candidates({ listed: ['crun'], wished: 'docker' })).toEqual(['crun']);
  });

  it('gives gVisor to every skill where the operator put it first, whatever a manifest wishes', () => {
    expect(candidates({ listed: ['runsc'], wished: undefined })).toEqual(['runsc']);
    expect(candidates({ listed: ['runsc', 'crun'], wished: 'crun' })).toEqual(['runsc', 'crun']);
  });

  it('never gives less than a kernel of its own to a manifest that demands it', () => {
    expect(candidates({ listed: undefined, wished: 'runsc' })).toEqual(['runsc']);
    expect(candidates({ listed: ['crun', 'runsc'], wished: 'runsc' })).toEqual(['runsc']);
    expect(candidates({ listed: ['crun'], wished: 'runsc' })).toEqual([]);
    expect(candidates({ listed: undefined, wished: 'kata' })).toEqual([]);
  });

  it('holds for every list and wish: no wish changes what is allowed, or puts a weaker runtime first', () => {
    const lists = [undefined, ...MAKES.flatMap((one) => MAKES.map((other) => [...new Set([one, other])]))];
    for (const listed of lists)
      for (const wished of [...MAKES, 'kata', undefined]) {
        const found = candidates({ listed, wished });
        expect(found.filter((make) => !(listed ?? MAKES).includes(make))).toEqual([]);
        if (listed?.[0] === 'runsc' && found.length > 0) expect(found[0]).toBe('runsc');
        if (wished === 'runsc') expect(found.filter((make) => make !== 'runsc')).toEqual([]);
      }
  });

  it('is read from the environment of the operator, and a name that nobody knows is refused', () => {
    expect(makesOfOperator('')).toBeUndefined();
    expect(makesOfOperator('runsc, crun')).toEqual(['runsc', 'crun']);
    expect(() => makesOfOperator('kata')).toThrow(SkillError);
  });

  it('says how to allow what a skill demands', () => {
    const error = unmetDemand({ listed: ['crun'], wished: 'runsc' });
    expect(error).toMatchObject({ code: 'skill_unavailable' });
    expect(error.fix).toContain('SKILLCELL_CONTAINER_RUNTIMES=runsc,crun');
    expect(unmetDemand({ listed: undefined, wished: 'kata' }).fix).toContain('Name one of crun');
  });
});

describe('a container engine that cannot start', () => {
  it('is named with the reason, and does not take the others down', async () => {
    const home = mkdtempSync(join(tmpdir(), 'skillcell-choice-'));
    chmodSync(home, 0o755);
    const places = [join(home, 'bin')];
    mkdirSync(places[0]!);
    symlinkSync(realpathSync('/usr/bin/crun'), join(places[0]!, 'crun'));
    writeFileSync(join(places[0]!, 'runc'), 'not a program');
    const wall = new ContainerWall({ home, makes: ['runc', 'crun'], places });
    try {
      const probe = await wall.probe();
      expect(probe, probe.summary).toMatchObject({ available: true });
      expect(probe.summary).toContain('runc does not work here');
    } finally {
      await wall.close();
      rmSync(home, { recursive: true, force: true });
    }
  }, 60_000);
});
