/** The parts of a night have every long test once, and a change reaches its tests. */

import { globSync } from 'node:fs'
import { expect, it } from 'vitest'

import { testsReachedBy } from '../../../scripts/reached-tests.ts'
import { nightlyParts } from '../../../scripts/test-parts.ts'
import { root } from '../../support/source-tree.ts'

it.each([
  ['long', 'test/**/*.{long,night}.ts', /node_modules|^test\/(browser|tracing|e2e\/cluster)\//],
  ['studio', 'test/studio/*.test.ts', /^$/],
  ['cluster', 'test/e2e/cluster/*.{long,night}.ts', /^$/],
] as const)('Each test of the project %s belongs to one part of the night.',
  (name, files, others) => {
    const found = globSync(files, { cwd: root }).filter((path) => !others.test(path))
    const parts = nightlyParts.filter(({ projects }) => projects.includes(name))
    const times = found.map((
      path,
    ) => [path, parts.filter(({ paths }) => paths!.some((start) => path.startsWith(start))).length])
    expect(times.filter(([, count]) => count !== 1)).toEqual([])
    expect(found.length).toBeGreaterThan(10)
  })

it('Each project of the suite and of the long tests belongs to the night.', () => {
  expect(new Set(nightlyParts.flatMap(({ projects }) => projects))).toEqual(
    new Set(['suite', 'conformance', 'unit', 'validation', 'long', 'browser', 'tracing',
      'cassandra', 'newest', 'studio', 'cluster']),
  )
})

it('A change reaches tests that have its name, import it, or start it in another thread.', () => {
  const { tests, others } = testsReachedBy(['src/json/reader-thread.ts',
    'src/store/embedded/search/run-search.ts'])
  expect(tests).toContain('test/conformance/run-search.test.ts')
  expect(tests).toContain('test/unit/json/long-json.test.ts')
  expect(tests.filter((path) => others.includes(path))).toEqual([])
})
