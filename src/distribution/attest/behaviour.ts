/**
 * What a study found about a skill, for a statement that its publisher signs: what passed in which mode, what it used, and what
 * was denied. No times and no names of machines, so that the same findings give the same statement.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';

const MAX_DENIALS = 100;

const mode = z.object({
  mode: z.string(),
  status: z.string(),
  isListed: z.boolean(),
  engine: z.string().optional(),
  wall: z.string().optional(),
  cases: z.number(),
  fitting: z.number(),
  denied: z.array(z.string()),
});
const report = z.object({
  skillcell: z.string(),
  skills: z.array(
    z.object({
      name: z.string(),
      digest: z.string().optional(),
      dependencies: z.array(z.object({ class: z.string() })),
      modes: z.array(mode),
      differences: z.array(z.string()),
    }),
  ),
});

export interface StudiedSkill {
  readonly name: string;
  readonly digest: string;
  /** The capability set of the lock. */
  readonly capabilities: readonly string[];
}

/** The predicate of a statement, from the JSON report of `skillcell study`. The report has to be about these very files. */
export function behaviourOf(skill: StudiedSkill, reportText: string, file: string): Record<string, unknown> {
  const { skillcell, skills } = readReport(reportText, file);
  const studied = skills.find(({ digest }) => digest === skill.digest);
  if (!studied)
    throw otherFiles(
      skill,
      file,
      skills.some(({ name }) => name === skill.name),
    );
  return {
    skill: skill.name,
    bundle: skill.digest,
    studiedBy: { program: 'skillcell', version: skillcell, attackCorpus: skillcell },
    capabilities: [...skill.capabilities].sort(),
    dependencies: studied.dependencies.map((one) => one.class).toSorted(),
    modes: studied.modes.map((one) => ({ ...one, denied: one.denied.toSorted().slice(0, MAX_DENIALS) })),
    differences: studied.differences,
  };
}

function readReport(text: string, file: string): z.infer<typeof report> {
  try {
    return report.parse(JSON.parse(text));
  } catch (cause) {
    throw new SkillError('usage', `The file ${quote(file)} is not a report of skillcell study`, {
      fix: 'Create one: skillcell study FOLDER --out DIR writes DIR/study.json.',
      cause,
    });
  }
}

function otherFiles({ name, digest }: StudiedSkill, file: string, hasName: boolean): SkillError {
  const why = hasName ? 'it is about other files of that skill' : 'that skill is not in it';
  return new SkillError(
    'manifest_drift',
    `The report ${quote(file)} is not about ${quote(name)} as it is now: ${why}`,
    {
      fix: 'Study the skill again with `skillcell study`, and publish it with the new report.',
      detail: { file, digest },
    },
  );
}
