/**
 * The operator chooses the container backends; a manifest can only demand stronger isolation.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { candidates, operatorBackends, unmetDemand } from '../../../../src/cell/walls/container/choice.ts';
import { BACKENDS } from '../../../../src/cell/walls/container/contract.ts';
import { ContainerWall } from '../../../../src/cell/walls/container/wall.ts';
import { SkillError } from '../../../../src/errors.ts';

describe('the choice of a container backend', () => {
  const USUAL = ['crun', 'runc', 'podman', 'docker'];

  it('is the default order without gVisor if neither operator nor manifest choose', () => {
    expect(candidates({ listed: undefined, requested: undefined })).toEqual(USUAL);
  });

  it('follows the request of a manifest among equally strong backends', () => {
    expect(candidates({ listed: undefined, requested: 'podman' })).toEqual([
      'podman',
      'crun',
      'runc',
      'docker',
    ]);
    expect(candidates({ listed: ['crun', 'podman'], requested: 'podman' })).toEqual(['podman', 'crun']);
  });

  it('ignores a request for a backend that the operator does not allow', () => {
    expect(candidates({ listed: ['crun'], requested: 'docker' })).toEqual(['crun']);
  });

  it('is gVisor for every skill if the operator lists it first, whatever a manifest requests', () => {
    expect(candidates({ listed: ['runsc'], requested: undefined })).toEqual(['runsc']);
    expect(candidates({ listed: ['runsc', 'crun'], requested: 'crun' })).toEqual(['runsc', 'crun']);
  });

  it('is only gVisor for a manifest that demands its own kernel', () => {
    expect(candidates({ listed: undefined, requested: 'runsc' })).toEqual(['runsc']);
    expect(candidates({ listed: ['crun', 'runsc'], requested: 'runsc' })).toEqual(['runsc']);
    expect(candidates({ listed: ['crun'], requested: 'runsc' })).toEqual([]);
    expect(candidates({ listed: undefined, requested: 'kata' })).toEqual([]);
  });

  it('never leaves the allowed list or puts a weaker backend first, for every list and request', () => {
    const lists = [
      undefined,
      ...BACKENDS.flatMap((one) => BACKENDS.map((other) => [...new Set([one, other])])),
    ];
    for (const listed of lists)
      for (const requested of [...BACKENDS, 'kata', undefined]) {
        const found = candidates({ listed, requested });
        expect(found.filter((backend) => !(listed ?? BACKENDS).includes(backend))).toEqual([]);
        if (listed?.[0] === 'runsc' && found.length > 0) expect(found[0]).toBe('runsc');
        if (requested === 'runsc') expect(found.filter((backend) => backend !== 'runsc')).toEqual([]);
      }
  });

  it("is read from the operator's environment, where unknown names are refused", () => {
    expect(operatorBackends('')).toBeUndefined();
    expect(operatorBackends('runsc, crun')).toEqual(['runsc', 'crun']);
    expect(() => operatorBackends('kata')).toThrow(SkillError);
  });

  it('fails with a fix that allows the demanded backend', () => {
    const error = unmetDemand({ listed: ['crun'], requested: 'runsc' });
    expect(error).toMatchObject({ code: 'skill_unavailable' });
    expect(error.fix).toContain('SKILLCELL_CONTAINER_RUNTIMES=runsc,crun');
    expect(unmetDemand({ listed: undefined, requested: 'kata' }).fix).toContain('Name one of crun');
  });
});

describe('a container backend that cannot start', () => {
  it('is reported with the reason, and does not affect the others', async () => {
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
  });
});
