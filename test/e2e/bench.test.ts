/** The benchmark runs from end to end; its figures are not judged here. */

import { expect, it } from 'vitest'
import { growth, quickBench } from './quick-bench.ts'

it('The benchmark prints a line for everything that is measured', async () => {
  const report = await quickBench()
  const measures = ['run-wait, 1 client', 'runs per second, 32 clients', 'first event',
    'get of a thread, 1 client', 'get of a thread, 32 clients', ...growth]
  for (const measure of measures) {
    expect(report).toMatch(new RegExp(`^\\| heddle: ${measure}.*\\d.*(met|missed) *\\|$`, 'm'))
  }
})
