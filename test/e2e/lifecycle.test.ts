/** The server as a process: how it starts, what it refuses, and how it ends. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serverProgram } from '../../scripts/server-program.ts'
import { engineLoadMs } from '../support/engine-load.ts'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { firstFreePort } from '../support/port.ts'
import { isNight } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { failToStart, oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { tookMs } from '../support/stillness.ts'

const gate = useGates()

async function started(args = oneWorker): Promise<ServerProcess> {
  const server = await startServer({ project: 'conformance', args })
  onTestFinished(() => server.close())
  return server
}

describe('starting', () => {
  it.runIf(isNight)('takes the next free port if the usual one is taken and nobody chose it',
    async () => {
      const holder = createServer().on('error', () => {}).listen(2024, '127.0.0.1')
      onTestFinished(() => void holder.close())
      const server = await startServer({ project: 'conformance', anyPort: true, env: { PORT: '' } })
      onTestFinished(() => server.close())
      const port = Number(new URL(server.url).port)
      expect(port).toBeGreaterThan(2024)
      expect(port).toBeLessThanOrEqual(2124)
      expect(server.output()).toContain('"note":"2024 is taken, so it is the next free one; ')
      const dataDir = await mkdtemp(join(tmpdir(), 'heddle-port-'))
      onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
      const refused = await failToStart({ project: 'conformance', dataDir, anyPort: true,
        env: { PORT: '2024' } })
      expect([refused.code, refused.output]).toEqual([1,
        expect.stringMatching(/^heddle: Port 2024 on 127\.0\.0\.1 is in use: .*\n$/)])
    })

  it.runIf(isNight)('serves from its source files as from the bundle', async () => {
    const root = resolve(import.meta.dirname, '../..')
    const server = await startServer({ program: root, args: oneWorker })
    onTestFinished(() => server.close())
    expect(await clientOf(server.url).runs.wait(null, 'agent', { input: say('x') }))
      .toHaveProperty('messages')
  })

  it.runIf(isNight)('serves also where nobody reads what it prints', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'heddle-unread-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const port = String(await firstFreePort())
    const child = spawn(process.execPath, [serverProgram, '--port', port, '--data', dataDir,
      '--workers', '1'])
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdout.destroy()
    const url = `http://127.0.0.1:${port}`
    await expect.poll(() => fetch(`${url}/ok`).then(({ ok }) => ok, () => child.exitCode))
      .not.toBeNull()
    expect(await clientOf(url).runs.wait(null, 'agent', { input: say('x') }))
      .toHaveProperty('messages')
    expect(child.exitCode).toBeNull()
  })

  it.runIf(isNight)('takes less than two seconds the second time', async () => {
    const server = await started([])
    const client = clientOf(server.url)
    const { thread_id: id } = await client.threads.create()
    await client.runs.wait(id, 'echo', { input: say('x') })
    const [times, ofEngine]: [number[], number[]] = [[], []]
    const best = () => Math.min(...times)
    // If the engine alone takes long to load on this machine, more time is allowed.
    const enough = () => Math.max(2_000, 8 * Math.min(...ofEngine))
    // The best of a few: the machine may be busy with other tests.
    while (times.length < 6 && (times.length === 0 || best() >= enough())) {
      await server.kill('SIGTERM')
      ofEngine.push(await engineLoadMs())
      const began = performance.now()
      await server.restart()
      times.push(performance.now() - began)
    }
    expect(best()).toBeLessThan(enough())
    expect(texts((await client.threads.get(id)).values)).toEqual(['x', 'echo: x'])
  })

  it.each([
    ['no project', 'nosuch', /langgraph\.json/],
    ['a project that names a file that is not there', 'missing', /nosuch\.ts/],
  ])('is refused in one sentence for %s', async (_, project, message) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'heddle-project-'))
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const refused = await failToStart({ project, dataDir })
    expect(refused.code).toBeOneOf([1, 2])
    expect(refused.output).toMatch(message)
  })
})

describe('a data directory that is damaged', () => {
  it.runIf(isNight)('is refused in a sentence, and left as it is', async () => {
    const server = await started()
    await clientOf(server.url).threads.create()
    await server.kill('SIGTERM')
    const files = (await readdir(server.dataDir)).map((name) => join(server.dataDir, name))
    const contents = await Promise.all(files.map((file) => readFile(file)))
    const database = files[contents.findIndex((bytes) => bytes.indexOf('SQLite format 3') === 0)]!
    await writeFile(database, 'this is no database '.repeat(1_000))
    const refused = await failToStart({ project: 'conformance', dataDir: server.dataDir })
    expect(refused.code).toBe(1)
    expect(refused.output).toContain(server.dataDir)
    expect(await readFile(database, 'utf8')).toMatch(/^this is no database/)
  })
})

describe('ending', () => {
  it.runIf(isNight)('takes five seconds at most, and runs go on at the next start, also deaf ones',
    async () => {
      const server = await started()
      const client = clientOf(server.url)
      const runs = await Promise.all((['hold', 'stubborn'] as const).map(async (how) => {
        const { thread_id: id } = await client.threads.create()
        const hold = gate()
        const run = await startHeld(client, id, hold, { how })
        void run.stream.rest().catch(() => undefined)
        return { id, hold, run }
      }))
      const began = performance.now()
      expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
      expect(tookMs(began)).toBeLessThan(5_000 + Math.max(500, await engineLoadMs()))
      await server.restart()
      for (const { id, hold, run } of runs) {
        await hold.arrived(2)
        expect(await client.threads.get(id)).toMatchObject({ status: 'busy' })
        hold.open()
        expect(texts(await client.runs.join(id, run.runId)))
          .toEqual([run.text, 'first', 'held', 'last'])
        expect(await client.runs.get(id, run.runId)).toMatchObject({ status: 'success' })
      }
    })
})
