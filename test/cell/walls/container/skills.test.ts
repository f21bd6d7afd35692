/**
 * `capabilities.skills` of Python in containers, over the same channel as in a jail. A program of an image has no channel, so
 * a manifest that declares it is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDocker } from '../../../../scripts/docker-service.ts';
import { skillsContract } from '../../../programs/skills-contract.ts';
import { writeCommonSkills } from '../../../programs/skills-of-tests.ts';
import { rejectionOf } from '../../../thrown.ts';
import { writeSkill } from '../../../write-skill.ts';
import type { TestRuntime } from '../../test-runtime.ts';
import { BASE_IMAGE, IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

const docker = await startDocker();
afterAll(docker.close);

describe.each(['crun', 'podman', 'docker', 'runsc'] as const)('in containers of %s', (backend) => {
  let opened: TestRuntime;
  beforeAll(async () => {
    const container = { dockerSocket: docker.socket };
    opened = await openContainerRuntime(backend, { pool: { size: 0 }, container });
    writeCommonSkills(opened.folder);
  });
  afterAll(() => opened.close());

  skillsContract(`Python in ${backend}`, {
    ...{ language: 'python', execution: 'container', start: 'cold', manifest: IN_CONTAINER },
    opened: () => opened,
  });

  test('a program of the image may not declare skills', async () => {
    const dir = writeSkill(opened.folder, {
      manifest: {
        execution: ['container'],
        entry: 'run.sh',
        container: { image: BASE_IMAGE },
        capabilities: { skills: ['math/double'] },
      },
      files: { 'run.sh': '#!/bin/sh\necho 1\n' },
    });
    const error = await rejectionOf(opened.runtime.execute(dir, {}));
    expect(error).toMatchObject({ code: 'unenforceable', detail: { fields: ['skills'] } });
  });
});
