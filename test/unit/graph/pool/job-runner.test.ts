/** The inside of a worker, without its thread: what it sends and what it logs. */

import { START, StateGraph, StateSchema, UntrackedValue } from '@langchain/langgraph'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

import type { WorkerBatch } from '../../../../src/graph/events/worker-batch.ts'
import type { Execution, RunRequest } from '../../../../src/graph/execution.ts'
import { JobRunner } from '../../../../src/graph/pool/job-runner.ts'
import { MessagePortBatcher } from '../../../../src/graph/pool/message-port-batcher.ts'
import type { Recorder } from '../../../../src/graph/recording/recorder.ts'
import type { RunEnding } from '../../../../src/graph/recording/stateless-run.ts'
import type { WorkerMail } from '../../../../src/graph/pool/worker-mail.ts'
import { virtualEnv } from '../../../support/env.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import { line } from '../../../support/small-graphs.ts'

const execution: Execution = {
  id: 1,
  tenant: 'local',
  threadId: 't',
  graphId: 'graph',
  runId: 'r',
  attempt: 1,
  headId: 'head',
  request: { kind: 'run', input: '{"log":[]}', command: null, config: '{}', context: null,
    streamModes: ['values'], streamSubgraphs: false, interruptBefore: null, interruptAfter: null,
    durability: 'async', checkpoint: null, emitted: [], asked: null },
}
const gone = { error: { code: 'unavailable', message: 'gone' } } as const

/** A runner whose executions cannot read. `received` resolves with the next mail of a type. */
function runnerWithoutLog() {
  const env = virtualEnv()
  const waiting = new Map<WorkerMail['type'], (mail: WorkerMail) => void>()
  const received = (type: WorkerMail['type']) =>
    new Promise<WorkerMail>((resolve) => waiting.set(type, resolve))
  const hear = (mail: WorkerMail) => {
    waiting.get(mail.type)?.(mail)
    if (mail.type !== 'read') return
    setImmediate(() => scheduler.receive({ type: 'stored', reading: mail.reading, result: gone }))
  }
  const { bench } = new GraphBench(line(['a']))
  const batcher = new MessagePortBatcher((mails) => mails.forEach(hear))
  const lines = { during: <Result>(_job: number, work: () => Promise<Result>) => work() }
  const scheduler = new JobRunner(bench, { batcher, lines }, env, { entered: new Int32Array(2) })
  const begin = (job: number) => scheduler.receive({ type: 'execute', job, execution, warm: false })
  return { scheduler, env, received, begin }
}

describe('an execution whose checkpoints cannot be read', () => {
  it('is reported as broken, with the reason in the log', async () => {
    const { env, received, begin } = runnerWithoutLog()
    const broken = received('broken')
    begin(1)
    expect(await broken).toEqual({ type: 'broken', job: 1 })
    expect(env.lines).toMatchObject([{ level: 'error' }])
  })

  it('is not reported once it was aborted', async () => {
    const { scheduler, env, received, begin } = runnerWithoutLog()
    const asked = received('read')
    begin(1)
    const { reading } = await asked as WorkerMail & { type: 'read' }
    scheduler.receive({ type: 'abort', job: 1 })
    scheduler.receive({ type: 'stored', reading, result: gone })
    const broken = received('broken')
    begin(2)
    expect(await broken).toEqual({ type: 'broken', job: 2 })
    expect(env.lines).toMatchObject([{ details: { runId: 'r' } }])
  })
})

describe('an execution that continues', () => {
  it('reports its start before its first node has ended', async () => {
    const node = Promise.withResolvers<void>()
    const State = new StateSchema({ log: z.array(z.string()) })
    const graph = new StateGraph(State)
      .addNode('first', () => ({ log: ['first'] }))
      .addNode('second', async () => {
        await node.promise
        return { log: ['second'] }
      })
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .compile()
    const graphs = new GraphBench(graph)
    await graphs.run({ input: { log: [] }, interruptBefore: ['second'] })
    const { bench, log, threadId } = graphs
    const sent: WorkerBatch[] = []
    const hear = async (mail: WorkerMail) => {
      if (mail.type === 'batch') sent.push(mail.batch)
      if (mail.type !== 'read' || mail.what.kind !== 'tuple') return
      const found = await log.tuple(mail.what.ns, mail.what.checkpointId)
      runner.receive({ type: 'stored', reading: mail.reading, result: { value: [found!] } })
    }
    const batcher = new MessagePortBatcher((mails) => mails.forEach((mail) => void hear(mail)))
    const lines = { during: <Result>(_job: number, work: () => Promise<Result>) => work() }
    const runner = new JobRunner(bench, { batcher, lines }, virtualEnv(), {
      entered: new Int32Array(2),
    })
    runner.receive({ type: 'execute', job: 1, warm: false,
      execution: { ...execution, threadId, headId: log.headId,
        request: { ...execution.request as RunRequest, input: 'null',
          streamModes: ['updates'] } } })
    await expect.poll(() => sent).toEqual([
      { steps: [], events: [], ackId: 0, outcome: null },
    ])
    node.resolve()
    await expect.poll(() => sent.at(-1)?.outcome?.status).toBe('success')
  })
})

describe('an execution that succeeds', () => {
  it('is recorded with its untracked values', async () => {
    const State = new StateSchema({ log: z.array(z.string()), answer: new UntrackedValue() })
    const graph = new StateGraph(State)
      .addNode('only', () => ({ log: ['only'], answer: 42 }))
      .addEdge(START, 'only')
      .compile()
    const { bench } = new GraphBench(graph)
    const ended = Promise.withResolvers<string | undefined>()
    const recorder = {
      ended: (_: Execution, ending?: RunEnding) => ended.resolve(ending?.values()),
    } as Partial<Recorder> as Recorder
    const batcher = new MessagePortBatcher(() => {})
    const lines = { during: <Result>(_job: number, work: () => Promise<Result>) => work() }
    const runner = new JobRunner(bench, { batcher, lines }, virtualEnv(), {
      entered: new Int32Array(2),
    }, { recorder })
    runner.receive({ type: 'execute', job: 1, warm: false,
      execution: { ...execution, headId: null } })
    expect(JSON.parse(await ended.promise ?? '')).toEqual({ log: ['only'], answer: 42 })
  })

  it('hands the rest of its recording over before a flush is done', async () => {
    const { bench } = new GraphBench(line(['a']))
    const order: string[] = []
    const flushed = Promise.withResolvers<void>()
    const recorder = {
      ended: () => void order.push('recorded'),
      flush: async () => void order.push('flushed'),
    } as Partial<Recorder> as Recorder
    const lines = { during: <Result>(_job: number, work: () => Promise<Result>) => work() }
    const batcher = new MessagePortBatcher((mails) => {
      // The end of a process follows the outcome at once.
      const isEnd = (mail: WorkerMail) => mail.type === 'batch' && mail.batch.outcome !== null
      if (mails.some(isEnd)) runner.receive({ type: 'flush' })
      if (mails.some(({ type }) => type === 'flushed')) flushed.resolve()
    })
    const runner: JobRunner = new JobRunner(bench, { batcher, lines }, virtualEnv(), {
      entered: new Int32Array(2),
    }, { recorder })
    runner.receive({ type: 'execute', job: 1, warm: false,
      execution: { ...execution, headId: null } })
    await flushed.promise
    expect(order).toEqual(['recorded', 'flushed'])
  })

  it('is reported before its state is made ready for the next one', async () => {
    const { bench } = new GraphBench(line(['a']))
    const decode = vi.spyOn(bench.codec, 'decode')
    const ended = Promise.withResolvers<number>()
    const batcher = new MessagePortBatcher((mails) => {
      const isEnd = (mail: WorkerMail) => mail.type === 'batch' && mail.batch.outcome !== null
      if (mails.some(isEnd)) ended.resolve(decode.mock.calls.length)
    })
    const lines = { during: <Result>(_job: number, work: () => Promise<Result>) => work() }
    const runner = new JobRunner(bench, { batcher, lines }, virtualEnv(), {
      entered: new Int32Array(2),
    })
    const request = { ...execution.request, input: '{"log":[{"said":"hello"}]}' }
    runner.receive({ type: 'execute', job: 1, warm: false,
      execution: { ...execution, headId: null, request } })
    expect(await ended.promise).toBe(0)
    await batcher.posted()
    expect(decode).toHaveBeenCalled()
    decode.mockRestore()
  })
})
