/** Reads of Cassandra that a thread needs: none for what its owner knows. */

import { describe, expect, it } from 'vitest'

import { ByteBudget } from '../../../../../cluster/index.ts'
import type { RecordOf } from '../../../../../src/checkpoint/index.ts'
import { answer } from '../../../../../src/graph/engine/state-question.ts'
import { ThreadLog } from '../../../../../src/thread/log/thread-log.ts'
import { CountedCassandra } from '../../../../support/counted-cassandra.ts'
import { GraphBench } from '../../../../support/graph-bench.ts'
import { echo, nestedAsk, said } from '../../../../support/small-graphs.ts'

type Member = Awaited<ReturnType<CountedCassandra['member']>>

const created: RecordOf = { $case: 'threadCreated',
  value: { threadId: 'x', atMs: 0, hidden: false, metadataJson: '{}', copiedFrom: '',
    headCheckpointId: '', status: '', interruptsJson: '' } }

function load({ log, threads, env }: Member, epoch: number): Promise<ThreadLog> {
  return ThreadLog.load({ ports: { log, threads, views: new ByteBudget<object>(1e6) }, tenant: 't',
    threadId: 'x', epoch, after: env.after, onLost: () => {} })
}

const sumOf = (calls: Readonly<Record<string, number>>, what: string) =>
  Object.entries(calls).filter(([call]) => call.startsWith(what))
    .reduce((sum, [, count]) => sum + count, 0)

/** The answer of the engine, which reads what it needs for a state or a history. */
async function answersOf(bench: GraphBench, source: ThreadLog, kind: 'state' | 'history') {
  const question = { kind, configurable: {}, ns: '', checkpointId: null, subgraphs: true,
    before: null, limit: 10, filter: null } as never
  return await answer(bench.bench, { graphId: 'graph', threadId: bench.threadId,
    source: source.settled, question })
}

describe('a thread in memory', () => {
  for (const [name, graph] of [['has ended', echo], ['waits for an answer', nestedAsk]] as const) {
    it(`is read without Cassandra, its run ${name}`, async () => {
      const cassandra = new CountedCassandra()
      const threadLog = await load(await cassandra.member(), 1)
      await threadLog.write([created])
      const bench = new GraphBench(graph)
      for (const text of ['a', 'b']) {
        const { batches } = await bench.run({ input: said(text) })
        for (const { steps } of batches) await threadLog.write(steps)
      }
      cassandra.calls()
      expect(await answersOf(bench, threadLog, 'state')).toHaveLength(1)
      expect((await answersOf(bench, threadLog, 'history')).length).toBeGreaterThan(2)
      expect(cassandra.calls()).toEqual({})

      // A new owner, which knows nothing: it reads the end of the log.
      const next = await cassandra.member()
      cassandra.calls()
      const later = await load(next, 2)
      expect(await answersOf(bench, later, 'state')).toHaveLength(1)
      expect(sumOf(cassandra.calls(), 'read')).toBeLessThanOrEqual(3)
      await answersOf(bench, later, 'state')
      expect(cassandra.calls()).toEqual({})
    })
  }

  it('reads nothing when it is created, if the server made its id', async () => {
    const cassandra = new CountedCassandra()
    const [known, made] = [await load(await cassandra.member(), 1),
      await load(await cassandra.member(), 2)]
    cassandra.calls()
    await known.write([created])
    expect(cassandra.calls()).toEqual({ 'read run': 1, 'write log': 1, 'write thread_row': 1 })
    made.noteNewId()
    await made.write([created])
    expect(cassandra.calls()).toEqual({ 'write log': 1, 'write thread_row': 1 })
  })
})
