import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeImage } from '../../../src/build/container/make-image.ts';
import { createImageStore, type LocalImages, type StoredImage } from '../../../src/cell/images/store.ts';
import { addImage, failureOf, listing, tempFolder, type Entry } from '../../cell/images/helpers.ts';

const BASE: Entry[] = [
  { name: 'usr/bin/sh', mode: 0o755, text: '#!' },
  { name: 'bin', type: '2', linkName: 'usr/bin' },
  { name: 'tmp', type: '5', mode: 0o1777 },
];
const CONFIG = { Env: ['PATH=/bin', 'LANG=C'], Cmd: ['/bin/sh'], User: '1', Labels: { a: '1' } };
const FILES = { 'skill.py': 'print()', 'data/a.txt': 'A', 'data/sub/b.txt': 'B' };

let images: LocalImages;
let base: string;
beforeEach(async () => {
  // No engine is available, which proves that none is needed.
  vi.stubEnv('PATH', '/nowhere');
  vi.stubEnv('DOCKER_HOST', 'unix:///nowhere');
  onTestFinished(() => void vi.unstubAllEnvs());
  images = createImageStore({ home: tempFolder() });
  base = await addImage(images, BASE, { config: CONFIG });
  await images.name('localhost/base:latest', base);
});

const JOB = { dockerfile: 'Dockerfile', network: false, onProgress: () => undefined };

async function build(lines: string, files: Record<string, string> = FILES): Promise<StoredImage> {
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  contents.set('Dockerfile', Buffer.from(`FROM localhost/base@${base}\n${lines}`));
  await images.name(`localhost/base@${base}`, base);
  const digest = await makeImage({ ...JOB, home: tempFolder(), images, contents });
  return (await images.find(digest)) ?? expect.fail();
}

async function files(lines: string): Promise<string[]> {
  return listing(await images.tree(await build(lines)));
}

describe('COPY', () => {
  it('puts files and the contents of folders where Docker would', async () => {
    expect(await files('COPY skill.py /app/')).toContain('app/skill.py file 644 0:0 print()');
    expect(await files('COPY skill.py /app')).toContain('app file 644 0:0 print()');
    expect(await files('COPY skill.py Dockerfile /app/')).toContain('app/skill.py file 644 0:0 print()');
    expect(await files('COPY data /app')).toEqual(
      expect.arrayContaining([
        'app/a.txt file 644 0:0 A',
        'app/sub folder 755 0:0',
        'app/sub/b.txt file 644 0:0 B',
      ]),
    );
    expect(await files('WORKDIR /w\nWORKDIR x\nCOPY . .')).toContain('w/x/data/a.txt file 644 0:0 A');
    expect(await files('COPY --chmod=755 --chown=5:6 ["skill.py", "/run"]')).toContain(
      'run file 755 5:6 print()',
    );
  });

  it('follows the links of the base image and keeps its folders', async () => {
    const lines = await files('COPY skill.py /bin/tool\nCOPY skill.py /tmp/x');
    expect(lines).toEqual(
      expect.arrayContaining(['bin -> usr/bin', 'usr/bin/tool file 644 0:0 print()', 'tmp folder 1777 0:0']),
    );
  });

  it.each(['COPY missing /x', 'COPY ../x /y', 'COPY /etc/passwd /y', 'COPY skill.py'])(
    'refuses %s',
    async (line) => {
      const error = await failureOf(build(line));
      expect(error).toMatchObject({ code: 'manifest_invalid', detail: { line: 2 } });
    },
  );
});

describe('the image config', () => {
  it('combines the instructions with the config of the base image', async () => {
    const { document, layers } = await build(
      'ENV LANG=de B="x y"\nLABEL b=2\nUSER 1000:1000\nWORKDIR /tmp\nENTRYPOINT ["/bin/sh", "-c"]\nCMD echo hi',
    );
    expect(document.config).toEqual({
      Env: ['PATH=/bin', 'LANG=de', 'B=x y'],
      Labels: { a: '1', b: '2' },
      User: '1000:1000',
      WorkingDir: '/tmp',
      Entrypoint: ['/bin/sh', '-c'],
      Cmd: ['/bin/sh', '-c', 'echo hi'],
    });
    expect(layers).toHaveLength(1);
    expect(document.rootfs.diff_ids).toEqual(layers.map(({ digest }) => digest));
  });

  it('drops the command of the base image for a new entrypoint', async () => {
    expect((await build('ENTRYPOINT ["/x"]')).document.config).not.toHaveProperty('Cmd');
    expect((await build('CMD ["y"]\nENTRYPOINT ["/x"]')).document.config).toMatchObject({ Cmd: ['y'] });
  });
});

it('the same files produce the same digest, and different files a different one', async () => {
  const lines = 'WORKDIR /app\nCOPY . .';
  const { digest } = await build(lines);
  expect((await build(lines)).digest).toBe(digest);
  expect((await build(lines, { ...FILES, 'skill.py': 'print(1)' })).digest).not.toBe(digest);
});

it.each([
  ['', 'no FROM'],
  ['FROM busybox', 'is not an image'],
  ['FROM team/busybox', 'names no registry'],
])('a Dockerfile that says %j is refused', async (text, words) => {
  const contents = new Map([['Dockerfile', Buffer.from(text)]]);
  const job = { home: tempFolder(), images, dockerfile: 'Dockerfile', contents, network: false };
  const error = await failureOf(makeImage({ ...job, onProgress: () => undefined }));
  expect(error.code).toBe('manifest_invalid');
  expect(error.message).toContain(words);
});
