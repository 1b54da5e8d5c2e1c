/**
 * Backups under every load, each restored and served: nothing that was acknowledged is missing,
 * every thread has one history, and nothing begins by itself.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'

import { heddle } from '../../support/command.ts'
import { openReceiver } from '../../support/receiver.ts'
import { repeats } from '../../support/repeats.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { Bystanders } from './bystanders.ts'
import { acceptedBy, executionsIn, faultsOfTalk, speak } from './diary-talk.ts'
import type { Talk } from './diary-talk.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-backup-drill-'))
afterAll(() => rmSync(root, { recursive: true }))

const file = join(root, 'executions')
const [threads, backups] = [4, repeats({ day: 4, night: 6 })]

it(`Each of ${backups} backups under load restores with all that was acknowledged`, async () => {
  writeFileSync(file, '')
  const keys = join(root, 'secrets.key')
  writeFileSync(keys, Buffer.alloc(32, 1), { mode: 0o600 })
  const args = ['--secrets-key', keys, '--egress-allow', '127.0.0.1']
  const [server, receiver] = await Promise.all([startServer({ project: 'conformance', args }),
    openReceiver()])
  onTestFinished(() => server.close())
  onTestFinished(() => receiver.close())
  const client = clientOf(server.url)
  const others = new Bystanders(server.url, receiver.url)
  onTestFinished(() => others.close())
  await others.deploy()
  const talks: Talk[] = await Promise.all(
    Array.from({ length: threads }, async () => ({
      threadId: (await client.threads.create()).thread_id,
      attempts: [],
    })),
  )
  // One waits for an answer, and one is in the middle of its steps in all of them.
  const { thread_id: asking } = await client.threads.create()
  await client.runs.wait(asking, 'ask', { input: { question: 'which?' } })
  const { thread_id: busy } = await client.threads.create()
  const { run_id: unfinished } = await client.runs.create(busy, 'diary', {
    input: { file, thread: busy, word: 'waiting', steps: 1_000, pauseMs: 3_600_000 },
  })
  const stopping = new AbortController()
  const loads = [others.load(stopping.signal),
    ...talks.map((talk) => speak(client, talk, file, stopping.signal))]
  const loaded = Promise.all(loads)
  // A load that fails must not pass unseen until the end.
  const failed = new Promise<never>((_, reject) => void loaded.catch(reject))
  failed.catch(() => {})

  const drill = async () => {
    for (let round = 1; round <= backups; round++) {
      await expect.poll(() => acceptedBy(talks, Infinity), { timeout: 60_000 })
        .toBeGreaterThan(round * threads)
      const beganMs = Date.now()
      const target = join(root, `${round}.db`)
      const backup = await heddle('backup', target, '--data', server.dataDir)
      expect([backup.status, backup.stderr], `backup ${round}`).toEqual([0, ''])
      const time = { beganMs, endedMs: Date.now() }
      const data = join(root, `restored-${round}`)
      const back = await heddle('restore', target, '--data', data)
      expect([back.status, back.stderr], `restore ${round}`).toEqual([0, ''])
      const restored = await startServer({ project: 'conformance', dataDir: data,
        args: [...args, ...oneWorker] })
      try {
        const there = clientOf(restored.url)
        const executed = executionsIn(file)
        const faults = await Promise.all(
          talks.map((talk) => faultsOfTalk(there, talk, { atMs: beganMs, executed })),
        )
        expect(faults.flat(), `backup ${round}`).toEqual([])
        expect(await others.missingAt(restored.url, time), `backup ${round}`).toEqual([])
        expect(await there.runs.get(busy, unfinished)).toMatchObject({ status: 'interrupted' })
        expect(await there.runs.wait(asking, 'ask', { command: { resume: 'this' } }))
          .toMatchObject({ answers: ['this', 'after'] })
        const { thread_id: fresh } = await there.threads.create()
        await there.runs.wait(fresh, 'diary', {
          input: { file, thread: fresh, word: 'fresh', steps: 1, pauseMs: 0 },
        })
        // A new run is executed there, and nothing else was.
        expect(executionsIn(file).filter(({ pid }) => pid === restored.pid).map(({ word }) => word))
          .toEqual(['fresh'])
      } finally {
        await restored.close()
        for (const each of [data, ...['', '.documents', '.traces', '.manifest'].map((end) =>
          `${target}${end}`
        )]) {
          rmSync(each, { recursive: true, force: true })
        }
      }
    }
  }
  await Promise.race([drill(), failed])
  stopping.abort()
  await loaded
}, 3_600_000)
