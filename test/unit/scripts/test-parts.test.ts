/** The parts of a night have every long test once, and a change reaches its tests. */

import { globSync } from 'node:fs'
import { expect, it } from 'vitest'

import { testsReachedBy } from '../../../scripts/reached-tests.ts'
import { nightlyParts } from '../../../scripts/test-parts.ts'
import { root } from '../../support/source-tree.ts'

it('Each long test belongs to one part of the night.', () => {
  const long = globSync('test/**/*.{long,night}.ts', { cwd: root }).filter((path) =>
    !/node_modules|^test\/(browser|tracing|e2e\/cluster)\//.test(path)
  )
  const parts = nightlyParts.filter(({ projects }) => projects.includes('long'))
  const found = long.map((
    path,
  ) => [path, parts.filter(({ paths }) => paths!.some((start) => path.startsWith(start))).length])
  expect(found.filter(([, times]) => times !== 1)).toEqual([])
  expect(long.length).toBeGreaterThan(40)
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
