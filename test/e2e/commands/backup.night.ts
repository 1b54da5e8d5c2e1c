/** The command that backs up the data of a server, and servers are started on the copies. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'

import { heddleProcess } from '../../support/command.ts'
import { say, texts } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-backup-'))
afterAll(() => rmSync(root, { recursive: true }))

let server: ServerProcess | undefined
afterEach(() => server?.close())

it('The command "backup" makes a file that a server can be started on.', async () => {
  const data = join(root, 'data')
  const backUp = (name: string) => heddleProcess('backup', join(root, name), '--data', data)
  server = await startServer({ project: 'conformance', dataDir: data, args: oneWorker })
  const { threads, runs } = clientOf(server.url)
  const { thread_id: id } = await threads.create()
  await runs.wait(id, 'echo', { input: say('kept') })
  const { status, stdout } = await backUp('running.db')
  expect([status, stdout]).toEqual([0, expect.stringMatching(/running\.db has all data of .* MB/)])
  expect(statSync(join(root, 'running.db')).mode & 0o777).toBe(0o600)
  const again = await backUp('running.db')
  expect([again.status, again.stderr]).toEqual([3, expect.stringMatching(/exists already, .*\n$/)])
  await server.kill('SIGTERM')
  expect((await backUp('stopped.db')).status).toBe(0)
  await server.close()
  for (const name of ['running', 'stopped']) {
    mkdirSync(join(root, name))
    copyFileSync(join(root, `${name}.db`), join(root, name, 'heddle.db'))
    server = await startServer({ project: 'conformance', dataDir: join(root, name),
      args: oneWorker })
    const { values } = await clientOf(server.url).threads.getState(id)
    expect(texts(values)).toEqual(['kept', 'echo: kept'])
    await server.close()
  }
})
