/** The clock by which the platform deletes, expires, orders and waits. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const folders = ['src/platform', 'src/store/embedded/platform', 'src/store/cassandra/platform']
const wallClock = /\benv\.nowMs\(\)|#env\.nowMs\(\)/

/** Files whose environment has a cautious clock, by the file that makes it. */
const cautious: Readonly<Record<string, readonly string[]>> = {
  'src/platform/evaluate/datasets/example-turns.ts': [
    'src/platform/evaluate/datasets/example-writer.ts',
  ],
  'src/platform/threads/query-handlers.ts': ['src/platform/evaluate/rules/rule-query.ts',
    'src/platform/query/answers.ts', 'src/platform/query/deletions/deletable-traces.ts',
    'src/platform/query/listed-runs.ts', 'src/platform/query/named-spans.ts',
    'src/platform/query/scan.ts', 'src/platform/query/sql/sql-answer.ts',
    'src/platform/query/statistics/hour-roll-ups.ts'],
  'src/store/embedded/platform/trace-file.ts': ['src/store/embedded/platform/commit-queue.ts',
    'src/store/embedded/platform/span-deletion.ts', 'src/store/embedded/platform/span-lives.ts',
    'src/store/embedded/platform/span-removal.ts', 'src/store/embedded/platform/span-writer.ts'],
  'src/store/cassandra/platform/cassandra-spans.ts': [
    'src/store/cassandra/platform/bucket-table.ts',
    'src/store/cassandra/platform/constant-bodies.ts',
    'src/store/cassandra/platform/feedback-token-table.ts',
    'src/store/cassandra/platform/lives/life-changes.ts',
    'src/store/cassandra/platform/lives/row-lives.ts',
    'src/store/cassandra/platform/roll-up-table.ts',
  ],
}

/** Files that use the wall clock, by the reason. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'times that people see': ['src/platform/evaluate/datasets/catalog-datasets.ts',
    'src/platform/evaluate/experiments/experiments.ts',
    'src/platform/evaluate/experiments/progress-keeper.ts',
    'src/platform/evaluate/models/model-quota.ts',
    'src/platform/evaluate/models/playground-settings.ts',
    'src/platform/evaluate/prompts/catalog-prompts.ts',
    'src/platform/evaluate/prompts/committing.ts', 'src/platform/evaluate/rules/rule-actions.ts',
    'src/platform/query/deletions/deletion-pass.ts', 'src/platform/query/deletions/deletions.ts',
    'src/platform/records/catalog/catalog-actor.ts', 'src/platform/records/catalog/collection.ts',
    'src/platform/records/projects/catalog-projects.ts',
    'src/platform/records/queues/catalog-items.ts', 'src/platform/records/secrets/secrets.ts',
    'src/platform/records/shares/catalog-shares.ts'],
  'start and end of own spans': ['src/platform/evaluate/experiments/experiment-run.ts',
    'src/platform/evaluate/models/traced-models.ts', 'src/platform/evaluate/rules/judge.ts'],
  'end of a window that a clock ahead only makes wider': ['src/platform/evaluate/rules/rules.ts'],
  'a clock that went back is noticed': ['src/platform/evaluate/rules/rule-actor.ts'],
  'reads what is there now, and deletes nothing': ['src/platform/evaluate/rules/rule-alert.ts',
    'src/platform/evaluate/rules/rule-pass.ts'],
  'compared with starts of runs, next to the cautious time': [
    'src/platform/records/projects/former-names.ts',
  ],
  'a link that expires is rejected, and nothing is deleted': [
    'src/platform/records/downloads/link-secrets.ts',
  ],
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
}

const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

it('only listed files of the platform and its stores use the wall clock', () => {
  const found = folders.flatMap(filesIn).filter((file) => wallClock.test(textOf(file)))
  const listed = [...Object.values(cautious), ...Object.values(allowed)].flat()
  expect(found.toSorted()).toEqual(listed.toSorted())
})

it('files that give others a cautious clock make one', () => {
  for (const file of Object.keys(cautious)) expect(textOf(file)).toContain('cautiousClock(')
})
