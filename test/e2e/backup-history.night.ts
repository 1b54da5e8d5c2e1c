/** A backup under load, restored elsewhere: every thread has one history, and nothing begins. */

import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@langchain/langgraph-sdk'
import { afterAll, expect, it, onTestFinished } from 'vitest'

import { heddleProcess } from '../support/command.ts'
import { startServer } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { faultsOf } from './cluster/history.ts'
import type { Attempt, Execution } from './cluster/history.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-backup-history-'))
afterAll(() => rmSync(root, { recursive: true }))

const file = join(root, 'executions')
const [threads, steps] = [8, 4]

/** What a client saw of a run, and when it learned of its id. */
interface Timed extends Attempt {
  acceptedMs: number
  endedMs: number
}

/** Starts one run after the other on a thread, each waiting in line if the last one still runs. */
async function speak(client: Client, threadId: string, attempts: Timed[],
  stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    const word = randomUUID()
    const attempt: Timed = { word, strategy: 'enqueue', act: attempts.length, answer: 'unknown',
      seen: [], followed: false, acceptedMs: Infinity, endedMs: Infinity }
    attempts.push(attempt)
    const stream = client.runs.stream(threadId, 'diary', {
      input: { file, thread: threadId, word, steps, pauseMs: 5 },
      metadata: { word },
      streamMode: 'updates',
      multitaskStrategy: 'enqueue',
      onRunCreated: ({ run_id: runId }) =>
        Object.assign(attempt, { runId, answer: 'accepted', acceptedMs: Date.now() }),
    })
    for await (const { event, data } of stream) {
      const { write } = data as { write?: { lines: string[] } }
      if (event !== 'updates' || write === undefined) continue
      for (const line of write.lines) attempt.seen.push({ line, atMs: Date.now() })
    }
    Object.assign(attempt, { followed: true, endedMs: Date.now() })
  }
}

/** What was certain at a moment. A run that was acknowledged later may be there, or not. */
function knownAt({ seen, ...attempt }: Timed, atMs: number): Attempt {
  const isAccepted = attempt.acceptedMs < atMs
  return { ...attempt, answer: isAccepted ? 'accepted' : 'unknown',
    seen: seen.filter((line) => line.atMs < atMs), followed: attempt.endedMs < atMs }
}

function executions(): Execution[] {
  return readFileSync(file, 'utf8').trim().split('\n').map((text) => {
    const [threadId, word, number, pid, atMs] = text.split(' ')
    return { threadId: threadId!, word: word!, line: `${word} ${number}`, pid: Number(pid),
      atMs: Number(atMs) }
  })
}

it('Nothing that was acknowledged before a backup is missing from it', async () => {
  writeFileSync(file, '')
  const server = await startServer({ project: 'conformance' })
  onTestFinished(() => server.close())
  const client = clientOf(server.url)
  const talks = await Promise.all(Array.from({ length: threads }, async () => ({
    threadId: (await client.threads.create()).thread_id,
    attempts: [] as Timed[],
  })))
  // It is in the middle of its steps when the backup is made, and waits for the next one.
  const { thread_id: waiting } = await client.threads.create()
  const input = { file, thread: waiting, word: 'waiting', steps: 1_000, pauseMs: 600_000 }
  const { run_id: unfinished } = await client.runs.create(waiting, 'diary', { input })
  const stopping = new AbortController()
  const speaking = talks.map(({ threadId, attempts }) =>
    speak(client, threadId, attempts, stopping.signal)
  )
  await expect.poll(() => talks.every(({ attempts }) => attempts.length > 5)).toBe(true)
  const callMs = Date.now()
  const backup = await heddleProcess('backup', join(root, 'a.db'), '--data', server.dataDir)
  expect([backup.status, backup.stderr]).toEqual([0, ''])
  stopping.abort()
  await Promise.all(speaking)
  await server.close()

  const data = join(root, 'restored')
  expect((await heddleProcess('restore', join(root, 'a.db'), '--data', data)).status).toBe(0)
  const before = executions()
  const restored = await startServer({ project: 'conformance', dataDir: data })
  onTestFinished(() => restored.close())
  const there = clientOf(restored.url)
  const faults = await Promise.all(talks.map(async ({ threadId, attempts }) => {
    const runs = await there.runs.list(threadId, { limit: 1_000 })
    const { values } = await there.threads.getState<{ lines?: string[] }>(threadId)
    return faultsOf({
      threadId,
      steps,
      attempts: attempts.map((attempt) => knownAt(attempt, callMs)),
      runs: runs.map(({ run_id: runId, status, metadata }) => ({ runId, status,
        word: String((metadata as { word?: string }).word) })
      ),
      lines: values.lines ?? [],
      executions: before.filter((execution) => execution.threadId === threadId),
    })
  }))
  expect(faults.flat()).toEqual([])
  expect(
    talks.reduce(
      (sum, { attempts }) => sum + attempts.filter(({ acceptedMs }) => acceptedMs < callMs).length,
      0,
    ),
  )
    .toBeGreaterThan(threads * 5)
  // A new run is executed, and nothing else was.
  const run = await there.runs.get(waiting, unfinished)
  expect(run.status).toBe('interrupted')
  const { thread_id: fresh } = await there.threads.create()
  await there.runs.wait(fresh, 'diary', {
    input: { file, thread: fresh, word: 'fresh', steps: 1, pauseMs: 0 },
  })
  expect(executions().slice(before.length).map(({ word }) => word)).toEqual(['fresh'])
})
