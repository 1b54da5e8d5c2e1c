/** The key of stored secrets is replaced while a server runs, and while it does not. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'

import { heddleProcess } from '../../support/command.ts'
import { secretsCommand } from '../../support/secrets-command.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-secrets-'))
afterAll(() => rmSync(root, { recursive: true }))

let server: ServerProcess | undefined
afterEach(() => server?.close())

const [data, file] = [join(root, 'data'), join(root, 'keys')]
const [older, newer] = [randomBytes(32), randomBytes(32)]

const secrets = secretsCommand(heddleProcess, data, file)

it('The command "secrets rekey" replaces the key with and without a server.', async () => {
  writeFileSync(file, older)
  server = await startServer({ project: 'conformance', dataDir: data,
    args: [...oneWorker, '--secrets-key', file] })
  const { url } = server
  const set = (key: string) =>
    ask(url, 'POST', '/api/v1/workspaces/current/secrets', [{ key, value: `sk-${key}` }])
  expect((await set('FIRST')).status).toBeLessThan(300)
  expect(await secrets('check')).toMatchObject({ status: 0, stored: 1, unopened: 0 })
  writeFileSync(file, Buffer.concat([newer, older]))
  await set('SECOND')
  expect(await secrets('check')).toMatchObject({ stored: 2, sealedWithOlder: 1 })
  expect(await secrets('rekey')).toMatchObject({ status: 0, stored: 2, rekeyed: 1 })
  writeFileSync(file, newer)
  expect(await secrets('check')).toMatchObject({ status: 0, stored: 2, sealedWithOlder: 0 })
  writeFileSync(file, older)
  expect(await secrets('check')).toMatchObject({ status: 1, unopened: 2,
    stderr: expect.stringContaining('2 secrets were sealed with a key that is not in the file') })
  await server.close()
  const last = randomBytes(32)
  writeFileSync(file, Buffer.concat([last, newer]))
  expect(await secrets('rekey')).toMatchObject({ status: 0, rekeyed: 2 })
  writeFileSync(file, last)
  expect(await secrets('check')).toMatchObject({ status: 0, sealedWithOlder: 0, unopened: 0 })
  expect((await heddleProcess('secrets')).status).toBe(2)
})
