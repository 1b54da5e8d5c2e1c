/** The inside of a worker, without its thread: what it sends and what it logs. */

import { describe, expect, it } from 'vitest'

import type { Execution } from '../../../../src/graph/execution.ts'
import { WorkerDesk } from '../../../../src/graph/pool/job-runner.ts'
import { Mailer } from '../../../../src/graph/pool/message-port-batcher.ts'
import type { WorkerMail } from '../../../../src/graph/pool/worker-mail.ts'
import { virtualEnv } from '../../../support/env.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import { line } from '../../../support/small-graphs.ts'

const execution: Execution = {
  id: 1, tenant: 'local', threadId: 't', graphId: 'graph', runId: 'r', attempt: 1, headId: 'head',
  request: { kind: 'run', input: '{"log":[]}', command: null, config: '{}', context: null,
    streamModes: ['values'], streamSubgraphs: false, interruptBefore: null, interruptAfter: null,
    durability: 'async', checkpoint: null, told: [], asked: null },
}
const gone = { error: { code: 'unavailable', message: 'gone' } } as const

/** A desk whose executions cannot read; `heard` resolves with the next mail of a type. */
function deskWithoutLog() {
  const env = virtualEnv()
  const waiting = new Map<WorkerMail['type'], (mail: WorkerMail) => void>()
  const heard = (type: WorkerMail['type']) =>
    new Promise<WorkerMail>((resolve) => waiting.set(type, resolve))
  const hear = (mail: WorkerMail) => {
    waiting.get(mail.type)?.(mail)
    if (mail.type !== 'read') return
    setImmediate(() => desk.receive({ type: 'stored', reading: mail.reading, result: gone }))
  }
  const { bench } = new GraphBench(line(['a']))
  const desk = new WorkerDesk(bench, new Mailer((mails) => mails.forEach(hear)), env,
    { entered: new Int32Array(1) })
  const begin = (job: number) => desk.receive({ type: 'execute', job, execution, warm: false })
  return { desk, env, heard, begin }
}

describe('an execution whose checkpoints cannot be read', () => {
  it('is reported as broken, with the reason in the log', async () => {
    const { env, heard, begin } = deskWithoutLog()
    const broken = heard('broken')
    begin(1)
    expect(await broken).toEqual({ type: 'broken', job: 1 })
    expect(env.lines).toMatchObject([{ level: 'error' }])
  })

  it('is not reported once it was aborted', async () => {
    const { desk, env, heard, begin } = deskWithoutLog()
    const asked = heard('read')
    begin(1)
    const { reading } = await asked as WorkerMail & { type: 'read' }
    desk.receive({ type: 'abort', job: 1 })
    desk.receive({ type: 'stored', reading, result: gone })
    const broken = heard('broken')
    begin(2)
    expect(await broken).toEqual({ type: 'broken', job: 2 })
    expect(env.lines).toMatchObject([{ facts: { runId: 'r' } }])
  })
})
