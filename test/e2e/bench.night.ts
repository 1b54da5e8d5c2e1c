/** The benchmarks run from end to end. Their figures are not judged here. */

import { expect, it } from 'vitest'
import { cassandraForTests } from '../support/cassandra.ts'
import { growth, quickBench } from './quick-bench.ts'

const cassandra = await cassandraForTests()

it.skipIf(!cassandra)('The benchmark on Cassandra prints everything that it measures', async () => {
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
  const seen = ['a run of 10 nodes', 'run-wait, 1 client', 'runs per second, 32 clients',
    'first event']
  for (const measure of seen) {
    expect(report).toMatch(new RegExp(`^\\| heddle: ${measure}.*\\d.*\\|$`, 'm'))
  }
}, 600_000)

it('The benchmark of tools prints a line for each kind of call', async () => {
  const report = await quickBench('--tools')
  for (const call of ['call', 'call in a session with forms', 'call with forms']) {
    for (const clients of ['1', '32']) {
      expect(report).toMatch(new RegExp(`^\\| ${call}, ${clients} clients.*\\d×.*\\|$`, 'm'))
    }
  }
})

it('The benchmark of a login prints a line for its cache and for a handler', async () => {
  const report = await quickBench('--login')
  for (const part of ['`authenticate` from the cache', 'a handler']) {
    expect(report).toMatch(new RegExp(`^\\| what ${part} adds.*\\d.*\\|$`, 'm'))
  }
})

it('The benchmark prints a line for everything that is measured', async () => {
  const report = await quickBench()
  const measures = ['run-wait, 1 client', 'runs per second, 32 clients', 'first event',
    'get of a thread, 1 client', 'get of a thread, 32 clients',
    'a short run beside 12 background runs', ...growth]
  for (const measure of measures) {
    expect(report).toMatch(new RegExp(`^\\| heddle: ${measure}.*\\d.*(met|missed) *\\|$`, 'm'))
  }
})

it('A benchmark beside an earlier commit prints the ratio of each line', async () => {
  const report = await quickBench('--against', 'HEAD')
  for (const measure of ['run-wait, 1 client, p50', 'runs per second, 32 clients', 'first event']) {
    expect(report).toMatch(new RegExp(`^\\| ${measure}.*HEAD .*now .*\\d×.*\\|$`, 'm'))
  }
})
