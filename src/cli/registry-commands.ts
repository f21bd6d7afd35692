/**
 * The commands that put skills into registries and find them there: publish, mirror, search.
 *
 * @module
 */
import type { Command } from 'commander';
import { collect, example, type Done } from './shared-options.ts';

export function addRegistries(program: Command, done: Done): void {
  program
    .command('publish')
    .argument('<skill>', 'folder or id of a skill')
    .argument('<reference>', 'oci://HOST/NAME[:TAG]; the default tag is the version of the skill')
    .description('publish a locked skill in a registry, with its lock, signatures and SBOM')
    .option('--key <file>', 'private key (PEM): sign the lock and the documents with it')
    .option('--study <file>', 'study.json of skillcell study: publish what it found, signed')
    .option('--attach <file>', 'Sigstore bundle with an attestation about skill.lock; repeatable', collect)
    .option('--wasm', 'also publish the component by itself as TAG-wasm, for other WebAssembly runtimes')
    .option('--catalog <reference>', 'also list it in this catalog, oci://HOST/NAME, for `search`')
    .option('--force', 'replace a version that exists with other content')
    .option('--json', 'print JSON')
    .addHelpText('after', example('publish ./my_skill oci://localhost:5000/skills/my_skill'))
    .action(async (skill: string, reference: string, options: object) => {
      const { publish } = await import('./commands/publish.ts');
      done(await publish(skill, reference, options));
    });
  program
    .command('mirror')
    .argument('<from>', 'oci://HOST/NAME:VERSION')
    .argument('<to>', 'oci://HOST/NAME[:VERSION]')
    .description('copy a published skill and all documents about it to another registry, byte for byte')
    .option('--catalog <reference>', 'also list the copy in this catalog, oci://HOST/NAME, for `search`')
    .option('--force', 'replace a version that exists with other content')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('mirror oci://localhost:5000/skills/my_skill:1.0.0 oci://localhost:5001/mirror/my_skill'),
    )
    .action(async (from: string, to: string, options: object) => {
      const { mirror } = await import('./commands/publish.ts');
      done(await mirror(from, to, options));
    });
  program
    .command('search')
    .argument('[word...]', 'words of the name or description; absent: everything')
    .description('look for skills in your catalogs, and show what each asks for and who vouches for it')
    .option(
      '--in <catalog>',
      'oci://HOST/NAME or https://HOST/ instead of your catalogs; repeatable',
      collect,
    )
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--json', 'print JSON')
    .addHelpText('after', example('search pdf forms --in oci://localhost:5000/catalog'))
    .action(async (words: string[], options: object) => {
      const { search } = await import('./commands/search.ts');
      done(await search(words, options));
    });
}
