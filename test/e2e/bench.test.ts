/** The benchmark runs from end to end; its figures are not judged here. */

import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { cassandraForTests } from '../support/cassandra.ts'

const root = resolve(import.meta.dirname, '../..')
const cassandra = await cassandraForTests()

const growth = ['updates stream', 'history of 10', 'state, per byte', 'copy, per byte',
  'bytes of the log']

async function quickBench(...options: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath,
    ['test/bench/bench.ts', '--quick', ...options], { cwd: root })
  expect(stdout).not.toContain('NaN')
  return stdout
}

it('The benchmark prints a line for everything that is measured', async () => {
  const report = await quickBench()
  const measures = ['run-wait, 1 client', 'runs per second, 32 clients', 'first event',
    'get of a thread, 1 client', 'get of a thread, 32 clients', ...growth]
  for (const measure of measures) {
    expect(report).toMatch(new RegExp(`^\\| heddle: ${measure}.*\\d.*(met|missed) *\\|$`, 'm'))
  }
}, 120_000)

it.skipIf(!cassandra)('The benchmark on Cassandra does so as well', async () => {
  const { contactPoints, dataCenter } = cassandra!
  const report = await quickBench('--store', 'cassandra', '--contact-points',
    contactPoints.join(','), '--local-datacenter', dataCenter)
  const judged = ['append of one row, 1 client', 'appends per second, 32 clients',
    'metadata search over 1000 threads, p50', 'metadata search over 1000 threads, p99',
    'loading the index', 'heddle: rows of the log',
    ...growth.map((measure) => `heddle: ${measure}`)]
  for (const measure of judged) {
    expect(report).toMatch(new RegExp(`^\\| ${measure}.*\\d.*(met|missed) *\\|$`, 'm'))
  }
  const told = ['a run of 10 nodes', 'run-wait, 1 client', 'runs per second, 32 clients',
    'first event']
  for (const measure of told) {
    expect(report).toMatch(new RegExp(`^\\| heddle: ${measure}.*\\d.*\\|$`, 'm'))
  }
}, 180_000)
